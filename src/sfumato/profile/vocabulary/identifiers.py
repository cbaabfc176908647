"""Words for what names a person by itself, a mere name aside."""

from sfumato.profile.vocabulary.concept import Concept

IDENTIFIERS = (
    Concept(
        "email",
        "identifier",
        "an e-mail address",
        {
            "en": "email, e mail, mail, email address",
            "de": "emailadresse, mailadresse",
            "fr": "courriel, adresse mail, mel",
            "es": "correo, correo electronico",
            "it": "posta elettronica",
            "pt": "correio eletronico, endereco eletronico",
            "nl": "mailadres, emailadres",
        },
        person=4,
    ),
    Concept(
        "phone",
        "identifier",
        "a telephone or fax number",
        {
            "en": "phone, telephone, mobile, cell phone, cellphone, fax, tel",
            "de": "telefon, handy, mobil, rufnummer, telefonnummer",
            "fr": "telephone, portable",
            "es": "telefono, movil, celular",
            "it": "telefono, cellulare",
            "pt": "telefone, telemovel, celular",
            "nl": "telefoon, telefoonnummer, mobiel",
        },
        person=5,
    ),
    Concept(
        "national-id",
        "identifier",
        "a number of social security, of an identity card or of a tax payer",
        {
            "en": "ssn, social security, national id, national insurance, passport, driver license, drivers license, "
            "driving licence, tax id, tin, nino, id card, voter id, license number, certificate number",
            "de": "sozialversicherungsnummer, svnr, sv nummer, ahv, ahv nr, ahvnummer, ausweisnummer, personalausweis, "
            "reisepass, passnummer, steuernummer, steuer id, fuhrerschein, rentenversicherungsnummer",
            "fr": "securite sociale, secu, nir, numero de securite sociale, carte d identite, passeport, "
            "numero fiscal, nss",
            "es": "dni, nif, nie, curp, rfc, cedula, seguridad social, pasaporte",
            "it": "codice fiscale, carta d identita, passaporto, partita iva",
            "pt": "cpf, nif, niss, rg, cartao de cidadao, bilhete de identidade, passaporte, contribuinte",
            "nl": "bsn, burgerservicenummer, sofinummer, paspoort, rijbewijs",
        },
        person=2,
    ),
    Concept(
        "record",
        "identifier",
        "a number of a medical record or of an insured person",
        {
            "en": "mrn, medical record, record number, chart number, hospital number, nhs number, insurance number, "
            "policy number, health plan, beneficiary id, member id, insurance, insured",
            "de": "krankenversichertennummer, versichertennummer, versicherungsnummer, patientennummer, "
            "fallnummer, kvnr",
            "fr": "numero de dossier, dossier medical, ipp, numero d assure, assurance",
            "es": "historia clinica, numero de historia, nhc, numero de afiliado, tarjeta sanitaria",
            "it": "cartella clinica, tessera sanitaria, numero cartella",
            "pt": "prontuario, processo clinico, numero de utente, cartao sus",
            "nl": "patientnummer, dossiernummer, polisnummer, verzekerdennummer",
        },
        person=3,
    ),
    Concept(
        "account",
        "identifier",
        "a number of an account or a card",
        {
            "en": "iban, bic, account number, account no, bank account, credit card, card number, card no, pan, cvv",
            "de": "kontonummer, kreditkarte, kartennummer, bankverbindung, konto",
            "fr": "numero de compte, compte bancaire, carte bancaire, rib",
            "es": "numero de cuenta, cuenta bancaria, tarjeta de credito, ccc, clabe",
            "it": "conto corrente, carta di credito, numero conto",
            "pt": "conta bancaria, numero da conta, cartao de credito, nib",
            "nl": "rekeningnummer, bankrekening, creditcard",
        },
        person=6,
    ),
    Concept(
        "address",
        "identifier",
        "a street address",
        {
            "en": "address, street, street address, house number, apartment, home address, po box",
            "de": "adresse, anschrift, strasse, hausnummer, wohnadresse",
            "fr": "adresse, rue, voie, numero de rue",
            "es": "direccion, calle, domicilio",
            "it": "indirizzo, via, numero civico",
            "pt": "endereco, rua, morada, logradouro",
            "nl": "adres, straat, huisnummer, straatnaam",
        },
    ),
    Concept(
        "online",
        "identifier",
        "an address or a name on the net",
        {
            "en": "url, website, web page, homepage, ip, ip address, mac address, user name, username, login, twitter, "
            "facebook, linkedin, instagram, cookie, cookie id, session id",
            "de": "benutzername, webseite, internetseite, benutzerkennung, kennung",
            "fr": "identifiant, nom d utilisateur, pseudo, site web, adresse ip",
            "es": "usuario, nombre de usuario, sitio web, pagina web",
            "it": "nome utente, utente, sito web",
            "pt": "nome de usuario, usuario, nome de utilizador, site",
            "nl": "gebruikersnaam, webadres, gebruiker",
        },
        person=7,
    ),
    Concept(
        "thing",
        "identifier",
        "a number of a vehicle, a device or a picture",
        {
            "en": "vin, license plate, licence plate, plate number, number plate, vehicle id, serial number, "
            "device id, "
            "imei, fingerprint, photo, picture, face, voice print, biometric",
            "de": "kennzeichen, nummernschild, fahrgestellnummer, seriennummer, geratenummer, foto, lichtbild",
            "fr": "immatriculation, plaque, numero de serie, photo",
            "es": "matricula, placa, numero de serie, foto, huella",
            "it": "targa, telaio, numero di serie, foto, impronta",
            "pt": "matricula, placa, chassi, numero de serie, foto",
            "nl": "kenteken, chassisnummer, serienummer, foto",
        },
    ),
    Concept(
        "household",
        "identifier",
        "a number of a household or a family, which ties people together",
        {
            "en": "household id, family id, household number, hhid",
            "de": "haushaltsnummer, haushalts id, familiennummer",
            "fr": "identifiant menage, numero menage, id menage",
            "es": "id hogar, numero de hogar",
            "it": "id famiglia, codice famiglia",
            "pt": "id domicilio, id familia, agregado",
            "nl": "huishoudnummer, huishouden id",
        },
    ),
)
