/** What a column of a roster may hold, as far as its header tells. */
export type ColumnRole =
  | 'id'
  | 'name'
  | 'first_name'
  | 'middle_name'
  | 'last_name'
  | 'company'
  | 'type'
  | 'birth_date'
  | 'countries'
  | 'risk_tier'
  | 'aliases'
  | 'active'
  | 'end_date';

/** Headers in daily use, folded: English, German, French, Spanish, Italian, Portuguese, Dutch, Danish, Norwegian, Swedish, Polish. */
const words: Readonly<Record<ColumnRole, string>> = {
  id: `id, customer id, customer no, customer nr, customer number, customer ref, customer reference, customer, cust id, cust no, cif, cif no,
    client id, client no, client number, client ref, account id, account no, account number, party id, party ref, member id, member no,
    reference, ref, external id, uuid, kunde, kundenr, kunde nr, kundennr, kunden nr, kundennummer, kunden nummer, kunden id, kundenummer, kunde id, kundnr, kundnummer, klantnummer,
    numero client, id client, code client, numero de cliente, id cliente, codigo cliente, codice cliente, numer klienta`,
  name: `name, full name, fullname, customer name, client name, legal name, party name, display name, account name, name of customer, navn,
    fulde navn, namn, naam, volledige naam, vollstaendiger name, kundenname, nom complet, nombre completo, nome completo, nazwa`,
  first_name: `first name, firstname, first, given name, given names, givenname, forename, forenames, vorname, vornamen, fornavn, fornavne,
    fornamn, voornaam, voornamen, prenom, prenoms, nombre, nombres, nome, imie`,
  middle_name: `middle name, middlename, middle names, second name, mellemnavn, mellomnavn, mellannamn, tussenvoegsel, zweiter vorname,
    deuxieme prenom, segundo nombre, secondo nome`,
  last_name: `last name, lastname, last, surname, surnames, family name, familyname, nachname, familienname, efternavn, etternavn, efternamn,
    achternaam, nom, nom de famille, apellido, apellidos, cognome, sobrenome, apelido, nazwisko`,
  company: `company, company name, organisation, organization, organisation name, organization name, business name, entity name, firm, firma,
    firmenname, firmanavn, virksomhed, bedrijfsnaam, raison sociale, societe, razon social, empresa, ragione sociale`,
  type: `type, customer type, client type, party type, entity type, kind, customer kind, legal form, person or entity, category,
    customer category, kundentyp, kundetype, kundtyp, klanttype, type client, type de client, tipo, tipo cliente, tipo de cliente`,
  birth_date: `birth date, birthdate, date of birth, dob, d o b, birthday, born, born on, year of birth, birth year, geburtsdatum, geburtstag,
    geb datum, fodselsdato, fodselsdag, fodelsedatum, geboortedatum, date de naissance, fecha de nacimiento, data di nascita,
    data de nascimento, data urodzenia`,
  countries: `country, countries, country code, country of residence, residence country, residence, nationality, nationalities, citizenship,
    citizenships, country of birth, country of incorporation, jurisdiction, domicile, land, staat, nationalitaet, staatsangehoerigkeit,
    wohnsitzland, nationalitet, statsborgerskab, medborgarskap, nationaliteit, pays, nationalite, pais, nacionalidad, nacionalidade, paese,
    nazionalita, cittadinanza, kraj, obywatelstwo`,
  risk_tier: `risk, risk tier, risk rating, risk level, risk class, risk category, risk score class, customer risk, risiko, risikoklasse,
    risikoklassifizierung, risikoniveau, riskklass, risicoklasse, risque, niveau de risque, riesgo, nivel de riesgo, rischio, risco`,
  aliases: `alias, aliases, aka, a k a, also known as, other names, other name, former name, former names, maiden name, previous name,
    native name, native script name, name in native script, trading name, trade name, doing business as, dba, geburtsname, tidligere navn`,
  active: `active, is active, status, customer status, account status, state, aktiv, er aktiv, actif, activo, ativo, attivo, actief`,
  end_date: `end date, enddate, closed on, closing date, close date, date closed, closed at, terminated on, termination date, left on,
    relationship end, valid to, valid until, ophort, slutdato, slutdatum, enddatum, einddatum, date de fin, fecha de baja, data fine`,
};

const roles: ReadonlyMap<string, ColumnRole> = new Map(
  Object.entries(words).flatMap(([role, list]) => {
    if (!isRole(role)) return [];
    return list.split(',').map((word) => [foldHeader(word), role] as const);
  }),
);

function isRole(role: string): role is ColumnRole {
  return Object.hasOwn(words, role);
}

/** Gives what a header says that its column holds, or null when it says nothing that is known. */
export function readHeaderRole(header: string): ColumnRole | null {
  return roles.get(foldHeader(header)) ?? null;
}

/** `Kunde-Nr.`, `kunde_nr` and `KundeNr` are one header, and so are `Geschäft` and `Geschaeft`. */
function foldHeader(header: string): string {
  return header
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/ø/g, 'o')
    .replace(/æ/g, 'a')
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([aou])e/g, '$1')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
