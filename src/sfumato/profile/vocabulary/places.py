"""Words for places."""

from sfumato.profile.vocabulary.concept import Concept

PLACES = (
    Concept(
        "postal",
        "quasi",
        "a postal code",
        {
            "en": "zip, zipcode, zip code, postcode, postal code, post code, zcta",
            "de": "plz, postleitzahl",
            "fr": "code postal, cp, npa",
            "es": "codigo postal, cp",
            "it": "cap, codice postale",
            "pt": "cep, codigo postal",
            "nl": "postcode",
        },
    ),
    Concept(
        "country",
        "quasi",
        "a country",
        {
            "en": "country, nationality, citizenship, native country, birthplace, country of birth, nation",
            "de": "land, staat, nationalitat, staatsangehorigkeit, herkunftsland, geburtsland, geburtsort",
            "fr": "pays, nationalite, lieu de naissance",
            "es": "pais, nacionalidad, lugar de nacimiento",
            "it": "paese, nazione, nazionalita, cittadinanza, luogo di nascita",
            "pt": "pais, nacionalidade, naturalidade",
            "nl": "land, nationaliteit, geboorteland, geboorteplaats",
        },
    ),
    Concept(
        "town",
        "quasi",
        "a town or district",
        {
            "en": "city, town, village, municipality, county, district, neighborhood, neighbourhood, precinct, ward, "
            "parish, tract, block group, location",
            "de": "ort, stadt, wohnort, gemeinde, landkreis, kreis, bezirk, ortsteil, stadtteil",
            "fr": "ville, commune, arrondissement, quartier, lieu",
            "es": "ciudad, municipio, localidad, poblacion, distrito, barrio",
            "it": "citta, comune, localita, frazione, quartiere",
            "pt": "cidade, municipio, concelho, freguesia, bairro, localidade",
            "nl": "stad, plaats, woonplaats, gemeente, wijk, buurt",
        },
    ),
    Concept(
        "region",
        "quasi",
        "a region",
        {
            "en": "state, province, region, canton, territory",
            "de": "bundesland, kanton, region, provinz",
            "fr": "region, departement, canton, province",
            "es": "provincia, comunidad autonoma, region, estado",
            "it": "regione, provincia",
            "pt": "estado, distrito, uf, provincia, regiao",
            "nl": "provincie, regio",
        },
    ),
    Concept(
        "latitude",
        "quasi",
        "a latitude",
        {
            "en": "latitude, lat",
            "de": "breitengrad",
            "fr": "latitude",
            "es": "latitud",
            "it": "latitudine",
            "pt": "latitude",
            "nl": "breedtegraad",
        },
    ),
    Concept(
        "longitude",
        "quasi",
        "a longitude",
        {
            "en": "longitude, lon, lng, long",
            "de": "langengrad",
            "fr": "longitude",
            "es": "longitud",
            "it": "longitudine",
            "pt": "longitude",
            "nl": "lengtegraad",
        },
    ),
)
