"""Words for what others may know of a person."""

from sfumato.profile.vocabulary.concept import Concept

QUASI = (
    Concept(
        "sex",
        "quasi",
        "a sex or gender",
        {
            "en": "sex, gender",
            "de": "geschlecht, anrede",
            "fr": "sexe, genre, civilite",
            "es": "sexo, genero",
            "it": "sesso, genere",
            "pt": "sexo, genero",
            "nl": "geslacht, sekse",
        },
    ),
    Concept(
        "origin",
        "quasi",
        "an ethnic origin",
        {
            "en": "race, ethnicity, ethnic, ethnic group, skin color, skin colour, ancestry, tribe, caste, language, "
            "mother tongue",
            "de": "ethnie, ethnizitat, hautfarbe, abstammung, sprache, muttersprache",
            "fr": "ethnie, origine ethnique, origine, langue, langue maternelle",
            "es": "raza, etnia, origen etnico, idioma, lengua",
            "it": "razza, etnia, origine etnica, lingua",
            "pt": "raca, cor, etnia, idioma, lingua",
            "nl": "ras, etniciteit, afkomst, taal, moedertaal",
        },
    ),
    Concept(
        "family",
        "quasi",
        "a family status",
        {
            "en": "marital, marital status, civil status, relationship, children, dependents, household size, "
            "family size, siblings",
            "de": "familienstand, zivilstand, kinder, kinderzahl, haushaltsgrosse",
            "fr": "etat civil, situation familiale, situation matrimoniale, enfants, nombre d enfants",
            "es": "estado civil, hijos, numero de hijos",
            "it": "stato civile, figli, numero figli",
            "pt": "estado civil, filhos, numero de filhos",
            "nl": "burgerlijke staat, burgerlijke stand, kinderen, gezinsgrootte",
        },
    ),
    Concept(
        "work",
        "quasi",
        "an occupation or an employer",
        {
            "en": "occupation, job, job title, profession, employer, company, industry, sector, workclass, work class, "
            "position, department, rank, hours per week, employment",
            "de": "beruf, tatigkeit, arbeitgeber, firma, branche, abteilung, stelle, position, stellung",
            "fr": "profession, metier, emploi, employeur, entreprise, secteur, poste, service, csp",
            "es": "ocupacion, profesion, empleo, empleador, empresa, sector, puesto, cargo, departamento",
            "it": "professione, occupazione, lavoro, impiego, datore di lavoro, azienda, settore, mestiere, reparto",
            "pt": "profissao, ocupacao, emprego, empregador, empresa, setor, cargo, departamento",
            "nl": "beroep, functie, werkgever, bedrijf, sector, afdeling",
        },
    ),
    Concept(
        "school",
        "quasi",
        "an education",
        {
            "en": "education, education num, degree, school, schooling, qualification, university",
            "de": "ausbildung, bildung, abschluss, schule, schulbildung, studium, bildungsstand",
            "fr": "etudes, diplome, formation, niveau d etudes, scolarite, ecole",
            "es": "educacion, estudios, nivel educativo, escolaridad, titulo, formacion",
            "it": "istruzione, titolo di studio, scolarizzazione, laurea, scuola",
            "pt": "educacao, escolaridade, habilitacoes, grau de instrucao, formacao",
            "nl": "opleiding, onderwijs, diploma, school, studie",
        },
    ),
    Concept(
        "body",
        "quasi",
        "a body measure",
        {
            "en": "height, weight, bmi, body weight, body height, shoe size, eye color, eye colour, hair color, "
            "hair colour",
            "de": "grosse, korpergrosse, gewicht, korpergewicht, augenfarbe, haarfarbe",
            "fr": "taille, poids, imc, couleur des yeux",
            "es": "altura, estatura, peso, imc, talla",
            "it": "altezza, statura, peso, imc",
            "pt": "altura, estatura, peso, imc",
            "nl": "lengte, gewicht, oogkleur, haarkleur",
        },
    ),
    Concept(
        "time",
        "quasi",
        "a date of something that happened",
        {
            "en": "date, day, month, year, time, timestamp, admission, admitted, discharge, discharged, death, died, "
            "date of death, visit date, created, updated, hired, hire date, enrolled, start, end",
            "de": "datum, tag, monat, jahr, zeit, zeitpunkt, aufnahme, aufnahmedatum, entlassung, verstorben, "
            "eintritt, "
            "austritt",
            "fr": "date, jour, mois, annee, heure, admission, sortie, deces, entree",
            "es": "fecha, dia, mes, ano, hora, fecha de ingreso, fecha ingreso, ingreso hospitalario, alta, "
            "fallecimiento, defuncion",
            "it": "data, giorno, mese, anno, ora, ricovero, dimissione, decesso, ingresso",
            "pt": "data, dia, mes, ano, hora, admissao, alta, obito, internacao, internamento",
            "nl": "datum, dag, maand, jaar, tijd, opname, opnamedatum, ontslag, overlijden",
        },
    ),
)
