import { type ColumnRole, fold, readTokens, toKey, toTokens } from '../headers.js';

/** Ids that a file may have beside the customer's: of these the second kind only where nothing better is there. */
const plainIds =
  'id, no, ref, reference, uuid, record id, external id, guid, key, konto, codigo, codice, код, κωδικος, 编号';
const weakIds = 'account id, account no, external id, uuid, guid, key, kontonummer';
const weakOthers =
  'short name, country birth, tax country, country tax residence, tax residence, pays naissance, geburtsland';

/** Words for the customer itself: what stands behind them in a header is the customer's. */
const ownWords = new Set(
  toFolded(`customer client kunde kunden kundens klant klantens cliente klient member investor insured party partner person personen holder
    account billing main primary legal registered borrower debtor employee user entity ent company business trust firm corp corporate organisation
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
    created modified updated changed createdby by betreuer berater bearbeiter sachbearbeiter ansprechpartner vertreter vermittler ehepartner
    ehegatte burge arbeitgeber conseiller gestionnaire conjoint garant charge gestor gestore asesor conyuge consulente referente coniuge
    radgiver radgivare handlaggare kontaktperson aegtefaelle medarbejder opiekun doradca malzonek менеджер супруг temsilci
    state province region county bundesland language lang sprache langue idioma lingua sprog sprak taal currency ccy wahrung waehrung devise moneda valuta
    bank branch product issuer issue issued phone mobile telefon email mail street strasse zip postal postcode postnummer plz cap iban bic passport pass ssn fax city town ort stadt ville ciudad citta by place birthplace
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

const birthWords = new Set(
  toFolded(
    'birth birthdate birthday born dob yob geburt geburtsdatum geboren naissance nacimiento nascita nascimento urodzenia narozeni рождения',
  ),
);
const countryWords = new Set(
  toFolded(
    'country nationality citizenship domicile jurisdiction residence nationalite nationalitat staatsangehorigkeit staatsburgerschaft land pays pais paese kraj страна гражданство',
  ),
);
const idWords = new Set(toFolded('id uid no ref reference'));

/** Tells whether a header ends like that of an id, whosever: agents may be the customers. */
export const endsLikeId = (header: string): boolean => idWords.has(toTokens(header).at(-1) ?? '');

/** What has numbers of its own that are not the customer's. */
const things = new Set(
  toFolded(`policy polizze police poliza polizza versicherung versicherungs contract vertrag vertrags contrat contrato contratto claim order invoice rechnung rechnungs portfolio
    depot ticket case akte aktenzeichen loan card karte file document dokument ausweis wallet transaction deal trade booking application request row line lfd
    seq sequence item sku asset lead opportunity campaign site batch session event log message tax vat steuer stceg cpf cnpj nif dni nie cuit rfc pesel oib bsn cpr ssn siret`),
);

/** Tells whether a header names something that has numbers of its own. */
export const isOfThings = (header: string): boolean =>
  toTokens(header).some(
    (token) => things.has(token) || [...things].some((thing) => thing.length > 3 && token.startsWith(thing)),
  );

/** What a header says about its column. */
interface HeaderReading {
  role: ColumnRole;
  /** 3 says exactly what the column holds; 2 with words left out, or one of several possible ids; 1 is a last resort. */
  strength: 1 | 2 | 3;
}

const plain = toKeys(plainIds);
const weak = new Set([...toKeys(weakIds), ...toKeys(weakOthers)]);

/** The same for a header that says whose column it is, or more than needed, such as `c_dob` or `Insured Country Code`. */
export function readHeader(header: string): HeaderReading | null {
  const tokens = toTokens(header);
  const key = toKey(tokens);
  const exact = readTokens(tokens);
  if (exact !== null) return { role: exact, strength: weak.has(key) ? 1 : plain.has(key) ? 2 : 3 };
  if (tokens.some((token) => otherWords.has(token))) return null;
  const both = readBothNames(tokens);
  if (both !== null) return { role: both, strength: 2 };
  for (const rest of [...dropOwnWords(tokens), ...splitCompound(header)]) {
    const role = readTokens(rest) ?? readTokens(dropEndings(rest));
    if (role === null) continue;
    return { role, strength: role === 'id' ? 3 : weak.has(toKey(rest)) ? 1 : 2 };
  }
  return readTellingWord(tokens);
}

/** The end or one word of a longer header says what its column is about: the last resort. */
function readTellingWord(tokens: readonly string[]): HeaderReading | null {
  for (let at = 1; at < tokens.length; at += 1) {
    const role = readTokens(tokens.slice(at));
    const isPart = role === 'first_name' || role === 'middle_name' || role === 'last_name' || role === 'birth_date';
    if (isPart && tokens.length - at > 1) return { role, strength: 1 };
  }
  const has = (list: ReadonlySet<string>): boolean => tokens.some((token) => list.has(token));
  if (tokens.length > 1 && readTokens(tokens.slice(-1)) === 'name' && !has(things))
    return { role: 'name', strength: 1 };
  if (has(birthWords) && !tokens.some((token) => token === 'name' || countryWords.has(token)))
    return { role: 'birth_date', strength: 1 };
  if (has(countryWords)) return { role: 'countries', strength: 1 };
  const isId = idWords.has(tokens.at(-1) ?? '') || idWords.has(tokens[0] ?? '');
  return isId && tokens.length > 1 && !has(things) ? { role: 'id', strength: 1 } : null;
}

/** The headers without the word that most of them begin with, such as the name of a table; of those that say nothing, without one that three share. */
export function dropSharedPrefix(headers: readonly string[]): readonly string[] {
  const prefixes = headers.map((header) => /^[\p{L}\p{N}]+[._\- ](?=.)/u.exec(header)?.[0] ?? '');
  return headers.map((header, at) => {
    const prefix = prefixes[at] ?? '';
    const count = prefix === '' ? 0 : prefixes.filter((other) => other === prefix).length;
    const isOfMost = count > headers.length * 0.6;
    return count >= 3 && (isOfMost || readHeader(header) === null) && !isOtherHeader(header)
      ? header.slice(prefix.length)
      : header;
  });
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
    const [one, other] = [readTokens(tokens.slice(0, at)), readTokens(tokens.slice(at))];
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

function dropOwnWords(tokens: readonly string[]): (readonly string[])[] {
  const rests = [tokens];
  for (let rest = tokens; rest.length > 1 && ownWords.has(rest[0] ?? ''); ) {
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
function splitCompound(header: string): (readonly string[])[] {
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
