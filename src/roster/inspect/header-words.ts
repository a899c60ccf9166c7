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

/** Headers in daily use in European languages, Turkish, Russian, Arabic, Chinese and Japanese; the order of the words does not matter. */
const words: Readonly<Record<ColumnRole, string>> = {
  id: `id, no, customer id, customer no, customer ref, customer reference, customer, cif, cif no, cif id,
    client id, client no, client ref, account id, account no, party id, party ref, member id, member no, contact id, contact no,
    reference, ref, external id, uuid, guid, key, record id, kunde, kundenr, kunde nr, kundennr, kundennummer, kunde id, kundenummer, kundnr,
    kundnummer, debitor, debitor nr, debitornummer, konto, kontonummer, mandantennummer, personennummer, geschaftspartner, kundenkennung, klantnummer, klantnr, klant id, relatienummer, relatie id,
    client number, id client, code client, identifiant, identifiant client, reference client, matricule, matricule client,
    cliente id, codigo cliente, codigo, identificador, codice cliente, codice, codice anagrafica, nag, ndg, klient number, klient id, identyfikator, numer klienta,
    asiakasnumero, asiakas id, asiakastunnus, cislo klienta, cislo zakaznika, klient cislo, ugyfelszam, ugyfel azonosito, ugyfelkod, musteri no, musteri numarasi, musteri kodu,
    cod client, numar client, sifra klijenta, broj klijenta, клиент код, клиент номер, клиент id, ид клиента, номер клиента, код, код контрагента, κωδικος πελατη, αριθμος πελατη, κωδικος, 客户编号, 客户号, 客户代码, 编号, 客戶編號, 顧客番号, 顧客id, 会員番号, 顧客コード,
    고객번호, رقم العميل, رقم الزبون, معرف العميل, kunnr, partner, cid, custno, custid`,
  name: `name, full name, fullname, customer name, client name, legal name, party name, display name, account name, customer full name, complete name, registered name, navn,
    fulde navn, fullt navn, fullstandigt namn, namn, naam, volledige naam, vollstandiger name, kundenname, name vorname, nachname vorname, name und vorname, nom complet, nom prenom, nom et prenom, prenom nom, nombre completo, nombre y apellidos, apellidos y nombre, nome completo, nome cognome, cognome nome, nominativo,
    intestazione, nazwa, imie nazwisko, nazwisko imie, nimi, koko nimi, jmeno prijmeni, cele jmeno, nev, teljes nev, ugyfel neve, ad soyad, adi soyadi, musteri adi, nume complet, nume prenume, ime i prezime, фио, полное имя, имя фамилия, наименование, наименование клиента, клиент имя, название, ονοματεπωνυμο, 姓名, 客户姓名, 客户名称, 名称, 氏名, 名前, 顧客名, 성명, 이름, 고객명, الاسم الكامل, الاسم, اسم العميل, nm, short name`,
  first_name: `first name, firstname, first, given name, givenname, forename, vorname, vornamen, rufname, fornavn, fornavne,
    fornamn, tilltalsnamn, voornaam, voornamen, roepnaam, prenom, prenoms, prenom usuel, nombre, nombres, nombre pila, nome, nome proprio, imie, imie pierwsze, pierwsze imie, etunimi, etunimet, krestni jmeno, jmeno, meno, keresztnev, utonev, ad, adi, prenume, ime, имя, ονομα, μικρο ονομα, 名, 이름 이, الاسم الاول, vorname adressattyp naturl person`,
  middle_name: `middle name, middlename, second name, middle, mellemnavn, mellomnavn, mellannamn, tussenvoegsel, tussenvoegsels, zweiter vorname, weitere vornamen,
    deuxieme prenom, segundo nombre, secondo nome, drugie imie, отчество, ikinci adi, πατρωνυμο`,
  last_name: `last name, lastname, last, surname, family name, familyname, nachname, familienname, zuname, efternavn, etternavn, efternamn, slaktsnamn,
    achternaam, familienaam, nom, nom famille, nom naissance, nom usage, nom usuel, apellido, apellidos, primer apellido, cognome, sobrenome, apelido, ultimo nome, nazwisko, sukunimi, prijmeni, priezvisko, csaladnev, vezeteknev, soyad, soyadi, nume familie, nume, prezime, фамилия, επωνυμο, επιθετο, 姓, 성, اللقب, اسم العائلة, name adressattyp naturl person`,
  company: `company, company name, organisation, organisation name, business name, entity name, corporate name, corp name, firm, firm name, firma, registered company name, trading company,
    firmenname, unternehmen, unternehmensname, unternehmensbezeichnung, gesellschaft, firmierung, firmanavn, virksomhed, virksomhedsnavn, selskab, selskabsnavn, bedrijf, bedrijfsnaam, handelsnaam, statutaire naam, raison sociale, denomination, denomination sociale, societe, nom societe, nom entreprise, entreprise, razon social, empresa, nombre empresa, denominacion social, denominacion, ragione sociale, denominazione, denominazione sociale, azienda, razao social, denominacao social,
    foretag, foretagsnamn, bolag, bolagsnamn, foretak, foretaksnavn, nazwa firmy, nazwa przedsiebiorstwa, yritys, yrityksen nimi, yhtio, nazev firmy, nazev spolecnosti, firma neve, cegnev, ceg neve, unvan, sirket, sirket adi, firma adi, denumire, denumire firma, naziv, naziv tvrtke, организация, компания, название компании, наименование организации, επωνυμια, εταιρεια, 公司名称, 企业名称, 会社名, 法人名, 회사명, اسم الشركة, الشركة, name adressattyp unternehmen`,
  type: `type, customer type, client type, party type, entity type, kind, customer kind, legal form, person or entity, category, customer category, customer class, person type, legal status, entity kind, is company, is person, is organisation, is individual, is business, is entity, is legal entity,
    kundentyp, kundenart, personenart, personentyp, partnertyp, adressattyp, art, rechtsform, kundetype, kundtyp, klanttype, soort, soort klant, soort relatie, type client, type personne, nature juridique, nature client, tipo, tipo cliente, tipo persona, tipo personeria, tipo soggetto, natura giuridica, tipo pessoa, typ klienta, rodzaj klienta, osoba, asiakastyyppi, typ osoby, ugyfel tipus, ugyfeltipus, tipus, musteri tipi, tip client, tip, тип, тип клиента, вид клиента, тип лица, τυπος, τυπος πελατη, 客户类型, 类型, 顧客区分, 種別, 고객유형, نوع العميل, النوع`,
  birth_date: `birth date, birthdate, birth, dob, d o b, birthday, born, born on, year of birth, yob, date naissance, bdate, bday, birthdt, geburtsdatum, geburtstag, geboren, geboren am,
    geb datum, geb dat, geb am, geb, gebdat, gebdatum, geburtsdat, gbdat, geburtsjahr, fodselsdato, fodselsdag, fodselsdata, fodt, fodd, fodelsedatum, fodelsear, geboortedatum, geboortejaar, naissance, ne, nee, ne nee, fecha nacimiento, nacimiento, fecha nac, data nascita, nascita, nato, nato il, data nasc,
    data nascimento, nascimento, data urodzenia, urodzony, syntymaaika, syntymapaiva, datum narozeni, narozen, datum narodenia, datum rodenja, datum rojstva, szuletesi datum, szuletesi ido, szuletett, dogum tarihi, dogum, data nasterii, дата рождения, рождение, год рождения, ημερομηνια γεννησης, γεννηση, 出生日期, 生日, 出生年月日, 生年月日, 誕生日, 생년월일, تاريخ الميلاد`,
  countries: `country, country residence, residence country, residence, nationality, nationalities, nation, citizenship, citizen, country citizenship, country nationality, nationality country,
    country incorporation, incorporation country, country registration, country origin, origin country, country domicile, country name, country region, home country, jurisdiction, domicile, residency, land, staat, staatsangehorigkeit, staatsburgerschaft, nationalitat, nation,
    wohnsitzland, wohnland, wohnsitzstaat, sitzland, herkunftsland, ansassigkeit, nationalitet, statsborgerskab, statsborgerskap, statsborger, nasjonalitet, bopalsland, bopelsland, hjemland, medborgarskap, hemvist, hemvistland, nationaliteit, landcode, woonland, vestigingsland, pays, pays residence, pays siege, pays nationalite, nationalite, citoyennete, pais, pais residencia, residencia, nacionalidad, nacionalidade, cidadania, paese, paese residenza, stato, stato residenza, nazione,
    nazionalita, cittadinanza, residenza, kraj, kraj zamieszkania, obywatelstwo, narodowosc, kansalaisuus, maa, asuinmaa, kotimaa, zeme, stat, statni prislusnost, statni obcanstvi, obcanstvi, narodnost, allampolgarsag, orszag, uyruk, uyrugu, ulke, ulkesi, vatandaslik, cetatenie, cetatenia, tara, nationalitate, drzava, drzavljanstvo, гражданство, страна, страна регистрации, υπηκοοτητα, χωρα, ιθαγενεια, 国籍, 国家, 国家地区, 國籍, 国, 居住国, 국적, 국가, الجنسية, البلد, الدولة, بلد الاقامة,
    country birth, tax country, country tax residence, tax residence, pays naissance, geburtsland`,
  risk_tier: `risk, risk tier, risk rating, risk level, risk class, risk category, risk score class, customer risk, risiko, risikoklasse, risikostufe,
    risikoklassifizierung, risikoeinstufung, risikoniveau, risikogruppe, riskklass, riskniva, risicoklasse, risico, risque, niveau risque, classe risque, riesgo, nivel riesgo, perfil riesgo, rischio, livello rischio, profilo rischio, risco, nivel risco, ryzyko, poziom ryzyka, kategoria ryzyka, riziko, kockazat, kockazati szint, риск, уровень риска, 风险等级, リスク`,
  aliases: `alias, aliases, aka, a k a, also known as, other names, other name, former name, former names, maiden name, previous name, previous names,
    native name, native script name, name native script, trading name, trade name, doing business as, dba, geburtsname, tidligere navn, nom jeune fille`,
  active: `active, is active, status, customer status, account status, state, aktiv, er aktiv, actif, activo, ativo, attivo, actief`,
  end_date: `end date, enddate, closed on, closing date, close date, date closed, closed at, terminated on, termination date, left on, leaving date,
    relationship end, valid to, valid until, ophort, slutdato, slutdatum, enddatum, einddatum, date fin, fecha baja, data fine`,
};

/** Ids that a file may have beside the customer's: of these the second kind only where nothing better is there. */
const plainIds =
  'id, no, ref, reference, uuid, record id, external id, guid, key, konto, codigo, codice, код, κωδικος, 编号';
const weakIds = 'account id, account no, external id, uuid, guid, key, kontonummer';
const weakOthers =
  'short name, country birth, tax country, country tax residence, tax residence, pays naissance, geburtsland';

/** What some shorten or write differently, each with the words that it is. */
const spellings: Readonly<Record<string, string>> = {
  ...{ nm: 'name', nme: 'name', names: 'name', fst: 'first', frst: 'first', lst: 'last', mid: 'middle', mdl: 'middle' },
  ...{
    fname: 'first name',
    lname: 'last name',
    mname: 'middle name',
    fnm: 'first name',
    lnm: 'last name',
    surnames: 'surname',
  },
  ...{
    forenames: 'forename',
    dt: 'date',
    dte: 'date',
    brth: 'birth',
    bth: 'birth',
    fec: 'fecha',
    ctry: 'country',
    cntry: 'country',
  },
  ...{
    ctr: 'country',
    cntr: 'country',
    cd: 'code',
    nat: 'nationality',
    natl: 'nationality',
    natio: 'nationality',
    natn: 'nationality',
  },
  ...{
    ntnlty: 'nationality',
    ctzn: 'citizenship',
    ctznshp: 'citizenship',
    res: 'residence',
    rsdnc: 'residence',
    countries: 'country',
  },
  ...{
    nr: 'no',
    nbr: 'no',
    num: 'no',
    number: 'no',
    numero: 'no',
    nummer: 'no',
    n: 'no',
    cust: 'customer',
    cst: 'customer',
  },
  ...{
    cus: 'customer',
    clnt: 'client',
    cli: 'client',
    clt: 'client',
    kd: 'kunde',
    kdn: 'kunde',
    kunden: 'kunde',
    kund: 'kunde',
  },
  ...{
    acct: 'account',
    acc: 'account',
    mbr: 'member',
    mem: 'member',
    emp: 'employee',
    org: 'organisation',
    typ: 'type',
  },
  ...{
    organization: 'organisation',
    organizations: 'organisation',
    indiv: 'individual',
    ind: 'individual',
    ident: 'id',
  },
};

/** Words that join others or say whose something is in a language; a header means the same without them. */
const joints = new Set(
  'of the de du des di del della do da le la les el los d l s af av den der des und and et y e il i du'.split(' '),
);

/** Words for the customer itself: what stands behind them in a header is the customer's. */
const ownWords = new Set(
  toFolded(`customer client kunde kunden kundens klant klantens cliente klient member investor insured party partner person personen holder
    account billing main primary legal registered borrower debtor employee user entity ent company trust firm corp corporate organisation
    applicant policyholder subscriber subject individual natural mandanten mitglieds klienten debitor debitoren relatie asiakas musteri ugyfel
    patient student donor tenant buyer supplier vendor creditor lieferanten kreditor contact c cu cst t tbl f k fld col crm kyc aml address addr
    permanent current full asiakkaan клиент клиента πελατη 客户 客戶 顧客 会員 titular titolare assure adherent societaire abonne`),
);

/** Words behind what a column holds that change nothing about it. */
const endings = new Set('code id desc description text txt value iso iso2 iso3 alpha 1 2 3'.split(' '));

/** Words for somebody or something else: a header with one of them is not about the customer's own name, birth or country. */
const otherWords = new Set(
  toFolded(`spouse guarantor beneficiary beneficial ubo owner manager mgr adviser advisor agent broker officer director trustee settlor signatory contact
    emergency mother father parent child employer referrer referee introducer relationship rm secretary representative rep attorney accountant auditor
    created modified updated changed createdby by user betreuer berater bearbeiter sachbearbeiter ansprechpartner vertreter vermittler ehepartner
    ehegatte burge arbeitgeber conseiller gestionnaire conjoint garant charge gestor gestore asesor conyuge consulente referente coniuge
    radgiver radgivare handlaggare kontaktperson aegtefaelle medarbejder opiekun doradca malzonek менеджер супруг temsilci
    state province region county bundesland language lang sprache langue idioma lingua sprog sprak taal currency ccy wahrung waehrung devise moneda valuta
    bank branch product issuer issue issued phone mobile telefon email mail street strasse zip postal postcode postnummer plz cap iban bic passport pass ssn tax vat fax city town ort stadt ville ciudad citta by place birthplace
    lieu lugar luogo geburtsort industry sector occupation profession beruf note notes comment comments remark remarks bemerkung mnemonic`),
);

/** Words for days that are nobody's birthday. */
const otherDays = new Set(
  toFolded(`open opened opening since start started begin end ended created create creation modified modify modification updated update upd changed change
    last review reviewed join joined joining registered registration incorporated incorporation founded expiry expires expiration issue issued valid
    hire hired entry admission onboarding onboarded kyc contract signed active seit beginn eroffnung angelegt anlage anlagedatum geandert antragsdatum grundung
    grundungsdatum erfasst ouverture creation maj adhesion entree alta apertura baja ingreso creacion apertura iscrizione abertura oprettet oppretett siden
    skapad andrad registrerad stiftet sinds aangemaakt otwarcia utworzenia avattu zalozeno kayit открытия регистрации создания изменения 开户日期 注册日期 登録日 開設日 stamp timestamp ts erdat aedat crdat chdat settled`),
);

interface HeaderReading {
  role: ColumnRole;
  /** 3 says exactly what the column holds; 2 with words left out, or one of several possible ids; 1 is a last resort. */
  strength: 1 | 2 | 3;
}

const roles: ReadonlyMap<string, ColumnRole> = new Map(
  Object.entries(words).flatMap(([role, list]) =>
    isRole(role) ? list.split(',').map((phrase) => [toKey(toTokens(phrase)), role] as const) : [],
  ),
);
const plain = toKeys(plainIds);
const weak = new Set([...toKeys(weakIds), ...toKeys(weakOthers)]);

function isRole(role: string): role is ColumnRole {
  return Object.hasOwn(words, role);
}

/** Gives what a header says that its column holds, or null when it says nothing that is known. */
export function readHeaderRole(header: string): ColumnRole | null {
  return roles.get(toKey(toTokens(header))) ?? null;
}

/** The same for a header that says whose column it is, or more than needed, such as `c_dob` or `Insured Country Code`. */
export function readHeader(header: string): HeaderReading | null {
  const tokens = toTokens(header);
  const key = toKey(tokens);
  const exact = roles.get(key);
  if (exact !== undefined) return { role: exact, strength: weak.has(key) ? 1 : plain.has(key) ? 2 : 3 };
  if (tokens.some((token) => otherWords.has(token))) return null;
  const both = readBothNames(tokens);
  if (both !== null) return { role: both, strength: 2 };
  for (const rest of [...dropOwnWords(tokens), ...splitCompound(header)]) {
    const role = roles.get(toKey(rest)) ?? roles.get(toKey(dropEndings(rest)));
    if (role === undefined || (role === 'id' && rest.length === tokens.length && endings.has(rest.at(-1) ?? '')))
      continue;
    return { role, strength: role === 'id' ? 3 : weak.has(toKey(rest)) ? 1 : 2 };
  }
  return null;
}

/** Tells whether a header says that its column is about somebody or something else than the customer. */
export const isOtherHeader = (header: string): boolean =>
  readHeader(header) === null && toTokens(header).some((token) => otherWords.has(token));

/** Tells whether a header says that its days are no birthdays. */
export const isOtherDay = (header: string): boolean => {
  const tokens = toTokens(header);
  return tokens.some((token) => otherDays.has(token) || otherDays.has(token.replace(/(datum|dato|date|tarihi)$/, '')));
};

/** A column for the names of both, such as `Nom / Raison sociale`. */
function readBothNames(tokens: readonly string[]): ColumnRole | null {
  for (let at = 1; at < tokens.length; at += 1) {
    const [one, other] = [roles.get(toKey(tokens.slice(0, at))), roles.get(toKey(tokens.slice(at)))];
    const pair = [one, other];
    if (
      pair.includes('company') &&
      pair.some((role) => role === 'name' || role === 'last_name' || role === 'first_name')
    ) {
      return pair.includes('first_name') ? 'name' : 'last_name';
    }
  }
  return null;
}

function dropOwnWords(tokens: readonly string[]): string[][] {
  const rests = [[...tokens]];
  for (let rest = [...tokens]; rest.length > 1 && ownWords.has(rest[0] ?? ''); ) {
    rest = rest.slice(1);
    rests.push(rest);
  }
  if (tokens.length > 1 && ownWords.has(tokens.at(-1) ?? '')) rests.push(tokens.slice(0, -1));
  return rests;
}

function dropEndings(tokens: readonly string[]): readonly string[] {
  let end = tokens.length;
  while (end > 1 && endings.has(tokens[end - 1] ?? '')) end -= 1;
  return tokens.slice(0, end);
}

/** `CUSTNAME` and `Partnernummer` are of two words. */
function splitCompound(header: string): string[][] {
  const [first = '', ...others] = fold(header).split(' ');
  return [...ownWords, 'cust', 'cli', 'clnt', 'kunden', 'kd', 'acct', 'mbr']
    .filter((own) => own.length > (/[a-z]/.test(own) ? 2 : 1) && first.startsWith(own) && first.length > own.length + 1)
    .map((own) => toTokens([first.slice(own.length), ...others].join(' ')));
}

function toKeys(list: string): ReadonlySet<string> {
  return new Set(list.split(',').map((phrase) => toKey(toTokens(phrase))));
}

function toFolded(list: string): string[] {
  return list.split(/\s+/).map((word) => fold(word));
}

function toKey(tokens: readonly string[]): string {
  return [...tokens].sort().join(' ');
}

function toTokens(header: string): string[] {
  const tokens = fold(header)
    .split(' ')
    .flatMap((token) => (spellings[token] ?? token).split(' '));
  const telling = tokens.filter((token) => !joints.has(token));
  return telling.length > 0 ? telling : tokens;
}

/** `Kunde-Nr.`, `kunde_nr` and `KundeNr` are one header, and so are `Geschäft` and `Geschaeft`. */
function fold(header: string): string {
  return header
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{L})(\p{Nd})/gu, '$1 $2')
    .toLowerCase()
    .replace(/ø/g, 'o')
    .replace(/æ/g, 'a')
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .replace(/ı/g, 'i')
    .replace(/đ/g, 'd')
    .replace(/[º°]/g, 'o ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ς/g, 'σ')
    .replace(/([aou])e/g, '$1')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
