"""Words for what nobody may learn of a person."""

from sfumato.profile.vocabulary.concept import Concept

SENSITIVE = (
    Concept(
        "health",
        "sensitive",
        "something about health",
        {
            "en": "diagnosis, diagnoses, disease, illness, sickness, hiv status, condition, disorder, symptom, "
            "icd, icd 10, icd 9, "
            "treatment, therapy, medication, drug, prescription, procedure, hiv, cancer, tumor, tumour, disability, "
            "blood type, blood group, test result, lab result, pregnancy, pregnant, mental health, addiction, "
            "cause of death, comorbidity, infection, allergy, vaccination, genotype, mutation, dna",
            "de": "diagnose, krankheit, erkrankung, befund, symptom, behandlung, therapie, medikament, medikation, "
            "behinderung, blutgruppe, schwanger, schwangerschaft, todesursache, allergie, impfung, sucht",
            "fr": "diagnostic, maladie, pathologie, traitement, therapie, medicament, handicap, groupe sanguin, "
            "grossesse, cause de deces, allergie, symptome, affection",
            "es": "diagnostico, enfermedad, patologia, tratamiento, terapia, medicamento, discapacidad, embarazo, "
            "grupo sanguineo, causa de muerte, alergia, sintoma",
            "it": "diagnosi, malattia, patologia, trattamento, terapia, farmaco, disabilita, gravidanza, "
            "gruppo sanguigno, causa di morte, allergia, sintomo",
            "pt": "diagnostico, doenca, patologia, tratamento, terapia, medicamento, deficiencia, gravidez, "
            "grupo sanguineo, causa de morte, alergia, sintoma",
            "nl": "diagnose, ziekte, aandoening, behandeling, therapie, medicijn, medicatie, handicap, zwanger, "
            "bloedgroep, doodsoorzaak, allergie, symptoom",
        },
    ),
    Concept(
        "money",
        "sensitive",
        "an income, a debt or a fortune",
        {
            "en": "salary, income, wage, wages, earnings, pay, compensation, bonus, debt, loan, credit score, balance, "
            "wealth, pension, benefits, capital gain, capital loss, salary class, tax paid, mortgage",
            "de": "gehalt, lohn, einkommen, verdienst, schulden, kredit, vermogen, rente, kontostand, besoldung",
            "fr": "salaire, revenu, revenus, remuneration, dette, credit, patrimoine, pension, solde",
            "es": "salario, sueldo, ingreso, ingresos, renta, deuda, credito, pension, saldo",
            "it": "stipendio, salario, reddito, retribuzione, debito, credito, pensione, saldo",
            "pt": "salario, renda, rendimento, vencimento, divida, credito, pensao, saldo",
            "nl": "salaris, loon, inkomen, schuld, krediet, vermogen, pensioen, saldo",
        },
    ),
    Concept(
        "belief",
        "sensitive",
        "a religion, a conviction or a membership",
        {
            "en": "religion, religious, faith, denomination, church, political party, political view, politics, party, "
            "vote, voted, trade union, union member, ideology, belief",
            "de": "religion, konfession, glaube, kirche, partei, parteizugehorigkeit, politik, gewerkschaft, wahl",
            "fr": "religion, confession, croyance, parti, parti politique, opinion politique, syndicat, vote",
            "es": "religion, creencia, partido, partido politico, ideologia, sindicato, voto",
            "it": "religione, fede, partito, partito politico, sindacato, voto, ideologia",
            "pt": "religiao, crenca, partido, partido politico, sindicato, voto, ideologia",
            "nl": "religie, geloof, godsdienst, partij, politieke partij, vakbond, stem",
        },
    ),
    Concept(
        "intimate",
        "sensitive",
        "sex life, an offence or a suspicion",
        {
            "en": "sexual orientation, orientation, sex life, crime, offence, offense, conviction, criminal record, "
            "arrest, sentence, felony, victim, abuse",
            "de": "sexuelle orientierung, straftat, vorstrafe, verurteilung, delikt, urteil",
            "fr": "orientation sexuelle, infraction, condamnation, casier judiciaire, delit",
            "es": "orientacion sexual, delito, condena, antecedentes penales",
            "it": "orientamento sessuale, reato, condanna, precedenti penali",
            "pt": "orientacao sexual, crime, condenacao, antecedentes criminais",
            "nl": "seksuele geaardheid, misdrijf, veroordeling, strafblad, delict",
        },
    ),
    Concept(
        "grade",
        "sensitive",
        "a result of an examination or an appraisal",
        {
            "en": "grade, gpa, exam result, exam score, test score, appraisal, performance rating, final grade",
            "de": "note, zensur, prufungsergebnis, beurteilung, abschlussnote",
            "fr": "note, moyenne, resultat d examen, evaluation",
            "es": "nota, calificacion, resultado de examen",
            "it": "voto finale, valutazione, risultato esame",
            "pt": "nota, classificacao, avaliacao",
            "nl": "cijfer, eindcijfer, beoordeling",
        },
    ),
)
