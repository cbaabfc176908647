"""Words for names, for people and for numbers of people."""

from sfumato.profile.vocabulary.concept import Concept, Words

NAME = Concept(
    "name",
    "identifier",
    "somebody's name",
    {
        "en": "name, full name, first name, last name, surname, given name, family name, forename, middle name, "
        "maiden name, initials, nickname, firstname, lastname, fname, lname",
        "de": "name, vorname, nachname, familienname, geburtsname, zuname, vollstandiger name, rufname",
        "fr": "nom, prenom, nom de famille, nom de naissance, nom complet",
        "es": "nombre, apellido, apellidos, nombre completo",
        "it": "nome, cognome, nominativo, nome completo",
        "pt": "nome, sobrenome, apelido, nome completo",
        "nl": "naam, voornaam, achternaam, tussenvoegsel, volledige naam",
    },
)

PERSON_WORDS: Words = {
    "en": "patient, person, individual, customer, client, member, subject, participant, respondent, employee, student, "
    "user, pupil, citizen, resident, beneficiary, enrollee, worker, borrower, applicant, donor, candidate, "
    "case, people",
    "de": "patient, patientin, person, individuum, kunde, kundin, mitglied, proband, teilnehmer, mitarbeiter, "
    "personal, "
    "schuler, student, versicherter, versicherten, burger, einwohner, befragter, kunden, patienten, probanden, "
    "mitglieds",
    "fr": "patient, personne, individu, client, membre, sujet, participant, repondant, employe, salarie, eleve, "
    "etudiant, usager, assure",
    "es": "paciente, persona, individuo, cliente, miembro, sujeto, participante, empleado, alumno, estudiante, "
    "ciudadano, asegurado",
    "it": "paziente, persona, individuo, cliente, membro, soggetto, partecipante, dipendente, studente, cittadino, "
    "assistito",
    "pt": "paciente, pessoa, individuo, cliente, membro, sujeito, participante, empregado, funcionario, aluno, "
    "estudante, utente, cidadao, segurado",
    "nl": "patient, persoon, individu, klant, lid, deelnemer, medewerker, werknemer, leerling, student, burger, "
    "verzekerde",
}
"""What people are called in tables: alone, or beside a word of `NUMBER_WORDS`, the name of a column of persons."""

NUMBER_WORDS: Words = {
    "en": "id, ids, identifier, number, no, nr, num, code, key, ref, reference, pseudonym, hash, uuid, guid, pk, uid",
    "de": "nummer, nr, kennung, schlussel, kennziffer, kennnummer, pseudonym",
    "fr": "numero, no, code, cle, identifiant, matricule, pseudonyme",
    "es": "numero, num, codigo, clave, identificador, seudonimo",
    "it": "numero, codice, chiave, identificativo, matricola, pseudonimo",
    "pt": "numero, codigo, chave, identificador, pseudonimo",
    "nl": "nummer, code, sleutel, pseudoniem",
}
