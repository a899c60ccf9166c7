import { foldHeader, readHeader } from './headers.js';

/** What the people or firms of a column are to the customer. */
export type RelatedKind = 'joint_holder' | 'director' | 'beneficial_owner' | 'other' | 'alias';

/**
 * Words for people and firms beside the customer in some forty languages. A word also matches longer forms of it, such
 * as `wspólnik` and `wspólnika`, unless `$` ends it. Several words match in this order.
 */
const phrases: Readonly<Record<RelatedKind, string>> = {
  alias: `former name, previous name, maiden name, birth name, name at birth, trading name, trade name, aka$, a k a$,
    alias, also known, other name, nickname, native name, stage name, doing business as, dba$, geburtsname,
    früherer name, künstlername, ehemaliger name, handelsname, tidligere navn, tidigare namn, flicknamn, fødenavn,
    födelsenamn, pikenavn, pigenavn, aiempi nimi, entinen nimi, syntymänimi, binavn, bifirma, geboortenaam,
    meisjesnaam, handelsnaam, vroegere naam, nom de naissance, nom de jeune fille, nom jeune fille, ancien nom,
    nom commercial, pseudonym, nombre anterior, apellido de soltera, nombre comercial, nome anterior,
    nome de solteira, nome comercial, nome fantasia, nome precedente, cognome da nubile, nome commerciale,
    nazwisko rodowe, nazwisko panieńskie, poprzednie nazwisko, poprzednia nazwa, pseudonim, rodné příjmení,
    rodné priezvisko, dřívější jméno, obchodní jméno, születési név, leánykori név, korábbi név, nume anterior,
    nume de fată, djevojačko prezime, dekliški priimek, prethodno ime, прежн, девичья фамилия, псевдоним,
    дівоче прізвище, попереднє, предишно име, πατρικό όνομα, προηγούμενο όνομα, kızlık soyadı, önceki adı, takma ad,
    neiupõlvenimi, endine nimi, dzimtas uzvārds, ankstesnė pavardė, 曾用名, 别名, 英文名, 旧姓, 旧名, 通称, 별명, الاسم السابق,
    اسم الشهرة, שם קודם, שם נעורים, ten khac, ten cu, ชื่อเดิม, nama lama, nama alias`,
  joint_holder: `co applicant, coapplicant, joint applicant, joint holder, jointholder, joint account, joint name,
    joint owner, joint customer, joint party, joint$, co holder, coholder, co owner, coowner, co borrower, coborrower,
    co signer, cosigner, second holder, second applicant, secondary holder, secondary applicant, other holder,
    applicant 2, applicant 3, holder 2, holder 3, holder 4, customer 2, depositor 2, second account holder,
    kontoinhaber 2, zweiter kontoinhaber, mitinhaber, mitantragsteller, mitkontoinhaber, kontomitinhaber,
    zweitinhaber, zweiter inhaber, mitdarlehensnehmer, mitkreditnehmer, mitschuldner, zweiter antragsteller,
    miteigentümer, medsökande, medsøker, medansøger, medlåntagare, medlåntaker, medlåntager, medkontohavare,
    medkontohaver, medejer, medeier, medägare, meddebitor, medinnehavare, sameier, kanssahakija, yhteishakija,
    yhteisomistaja, toinen hakija, mederekeninghouder, mede rekeninghouder, medeaanvrager, medeeigenaar,
    tweede rekeninghouder, cotitulaire, titulaire 2, titular 2, otros titulares, co titulaire, coemprunteur,
    co emprunteur, codemandeur, cosouscripteur, second titulaire, deuxième titulaire, cotitular, co titular,
    segundo titular, coprestatario, codeudor, cosolicitante, co mutuário, coint, secondo intestatario,
    coobbligato, współposiadacz, współwłaściciel, współkredytobiorc, współwnioskodawc, drugi posiadacz, spolumajitel,
    spoludlužn, spolužadatel, spoluvlastn, spolužiadate, társtulajdonos, adóstárs, társigénylő, coîmprumutat,
    codebitor, suvlasni, sudužni, solastni, созаемщик, совладел, содебитор, співвласн, співпозичальн,
    съкредитоискател, съсобственик, съдлъжник, συνδικαιούχ, συνοφειλέτ, müşterek hesap, ortak hesap,
    ikinci hesap sahibi, müşterek borçlu, kaastaotleja, kaasomanik, kaaslaenaja, līdzaizņēmēj, līdzīpašniek,
    bendrasavinink, bendraskol, 联名, 共同申请, 共同借款, 共同持有, 連名, 共同名義, 共同申込, 공동명의, 공동신청, 공동소유, حساب مشترك, الحساب المشترك,
    שותף לחשבון, בעל חשבון נוסף, đồng sở hữu, đồng vay, ผู้กู้ร่วม, ผู้ถือบัญชีร่วม, pemilik bersama,
    pemegang bersama, peminjam bersama`,
  director: `director, board member, member of the board, chairman, chairperson, chairwoman, ceo$, cfo$,
    chief executive, managing director, officers, company secretary, geschäftsführer, vorstand, aufsichtsrat,
    prokurist, gesetzlicher vertreter, direktør, styrelse, styremedlem, styreleder, bestyrelse, ledamot, hallituksen,
    toimitusjohtaja, daglig leder, verkställande direktör, bestuurder, directeur, commissaris, dirigeant,
    administrateur, gérant, représentant légal, administrador, consejero, diretor, gerente, amministrator,
    amministratori, consigliere, legale rappr, rappresentante leg, rappr leg, członek zarządu, członkowie zarządu, zarząd, prezes,
    prokurent, jednatel, člen představenstva, statutár, konateľ, ügyvezető, vezető tisztségviselő, igazgató,
    administrator, član uprave, директор, руководител, управител, керівник, διευθυντ, διαχειριστ, νόμιμος εκπρόσωπος,
    yönetim kurulu, müdür, juhatuse liige, valdes loceklis, direktori, vadovas, 董事, 法定代表人, 法人代表, 负责人, 高管, 总经理, 代表者,
    代表取締役, 取締役, 役員, 대표자, 대표이사, 이사, مدير, عضو مجلس, מנהל, דירקטור, مدیر, giám đốc, กรรมการ, direktur, pengurus,
    komisaris`,
  beneficial_owner: `beneficial owner, ubo$, ubos$, ultimate owner, ultimate beneficial, shareholder, share holder,
    stockholder, owner$, owners$, proprietor, partners$, controlling person, controller$, significant control, psc$,
    parent company, ultimate parent, holding company, founder, settlor, wirtschaftlich berechtig,
    wirtschaftlicher eigentümer, gesellschafter, anteilseigner, aktionär, teilhaber, inhaber$, eigentümer,
    kommanditist, komplementär, treugeber, verklig huvudman, verkliga huvudmän, huvudman, reel ejer, reelle ejere,
    reell rettighetshaver, reelle rettighetshavere, ägare, ejer, eier, aksjonær, aktieägare, delägare,
    tosiasiallinen edunsaaja, edunsaaja, osakkeenomistaja, omistaja, uiteindelijk belanghebbende, aandeelhouder,
    vennoot, vennoten, eigenaar, bénéficiaire effectif, bénéficiaires effectifs, actionnaire, associé, propriétaire,
    titular real, titulares reales, beneficiario final, beneficiario real, beneficiários efetivos,
    beneficiário efetivo, accionista, acionista, socio$, socios$, propietario, titolare eff, titolari eff,
    azionista, azionisti, soci$, beneficjent rzeczywist, beneficjenci rzeczywi, benef rzecz, wspólnik, wspólnic, udziałowiec,
    udziałowc, akcjonariusz, właściciel, komandytariusz, komplementariusz, skutečný majitel, skuteční majitelé,
    společník, společníci, akcionář, majitel, konečný užívateľ výhod, spoločník, spoločníci, vlastník,
    tényleges tulajdonos, tulajdonos, részvényes, beneficiar real, acționar, asociat, stvarni vlasnik, vlasnik,
    vlasnici, osnivač, dioničar, delničar, družbenik, dejanski lastnik, lastnik, бенефициар, учредител, акционер,
    участник, собственник, владел, бенефіціар, засновник, учасник, власник, съдружник, действителен собственик,
    πραγματικός δικαιούχος, μέτοχο, εταίρο, ιδιοκτήτ, gerçek faydalanıcı, nihai faydalanıcı, ortaklar, ortak$,
    hissedar, pay sahibi, tegelik kasusaaja, tegelikud kasusaajad, osanik, aktsionär, patiesais labuma, dalībniek,
    īpašniek, naudos gavėj, akcinink, savinink, 受益所有人, 受益人, 实际控制人, 股东, 最终受益, 実質的支配者, 株主, 出資者, 실소유자, 실제소유자, 주주, 수익자,
    المستفيد, المساهم, الشركاء, الشريك, المالك, בעל מניות, בעלי מניות, נהנה, سهامدار, ذینفع, chủ sở hữu, cổ đông,
    ผู้ถือหุ้น, ผู้รับผลประโยชน์, pemilik manfaat, pemegang saham, pemilik`,
  other: `spouse, husband, wife, guarantor, guardian, beneficiary, beneficiaries, proxy, proxies, attorney,
    power of attorney, poa$, authorised, authorized, signatory, signatories, signer, representative, rep$, nominee,
    trustee, protector$, executor, heir$, heirs$, dependent, dependant, next of kin, emergency contact,
    contact person, contact name, contact$, employer, father, mother, vater$, mutter$, père$, mère$, imię ojca,
    imię matki, имя отца, имя матери, partner$, relationship manager, account manager, manager, mgr$, rm name, rm$,
    adviser, advisor, agent, broker, introducer, intermediary, referrer, payer, payee, related part, related person,
    household member, disponent$, fuldmagt, verfügungsberechtig, connected person, close associate, surety,
    principal$, secretary, ehepartner, ehegatt, ehefrau, ehemann, bürge, vormund, betreuer, bevollmächtigt, vollmacht,
    vertreter, begünstigt, bezugsberechtigt, zeichnungsberechtigt, ansprechpartner, arbeitgeber, berater, vermittler,
    makler, treuhänder, erben$, kontaktperson, lebenspartner, partner name, make$, maka$, sambo$, ægtefælle,
    ektefelle, samlever, borgensman, kautionist, kausjonist, fullmakt, fuldmægtig, ombud$, god man, förmyndare, värge,
    verge$, formynder, förvaltare, rådgiver, rådgivare, arbetsgivare, arbejdsgiver, arbeidsgiver, firmatecknare,
    förmånstagare, handläggare, takaaja, puoliso, edunvalvoja, valtuutettu, huoltaja, työnantaja, yhteyshenkilö,
    echtgeno, gemachtigde, vertegenwoordiger, begunstigde, werkgever, contactpersoon, voogd, bewindvoerder, conjoint,
    époux, épouse, garant, caution$, tuteur, curateur, mandataire, bénéficiaire, représentant, employeur, conseiller,
    gestionnaire, procuration, signataire, fiduciaire, héritier, apporteur, cónyuge, esposo, esposa, avalista, fiador,
    garante, tutor, apoderado, beneficiario, representante, empleador, gestor, asesor, autorizado, heredero, padre$,
    madre$, cônjuge, procurador, empregador, coniuge, fideiussore, delegato, procuratore, datore di lavoro, gestore,
    consulente, firmatario, fiduciario, małżon, współmałżon, poręczyciel, pełnomocni, opiekun, beneficjent,
    przedstawiciel, pracodawc, doradc, reprezentant, upoważnion, uposażon, powiernik, manžel, ručitel, zmocněnec,
    zástupce, opatrovník, zaměstnavatel, oprávněná osoba, splnomocnenec, zástupca, házastárs, kezes, meghatalmazott,
    képviselő, gyám$, kedvezményezett, munkáltató, kapcsolattartó, gondnok, soț$, soția, fidejusor, împuternicit,
    beneficiar, angajator, supružni, jamac, jamc, opunomoćeni, skrbni, zastupnik, korisnik$, poslodavac, zakonec,
    porok$, pooblaščen, delodajalec, супруг, поручител, доверен, представител, опекун, выгодоприобретател,
    работодател, менеджер, агент$, съпруг, поручник, довірен, опікун, роботодав, подружж, пълномощник, настойник,
    σύζυγο, εγγυητ, πληρεξούσιο, εκπρόσωπο, κηδεμόνα, εργοδότ, eşi$, eş adı, eşinin, kefil, vekil, temsilci, vasi$,
    lehtar, işveren, danışman, abikaasa, käendaja, volitatud, esindaja, eestkostja, tööandja, laulātai, galvotāj,
    pilnvarot, pārstāv, darba devēj, sutuoktin, laiduotoj, įgaliot, atstov, darbdav, 配偶, 担保人, 代理人, 授权, 监护人, 联系人, 雇主,
    工作单位, 客户经理, 保証人, 後見人, 勤務先, 担当者, 배우자, 보증인, 대리인, 후견인, 직장, 담당자, الزوج, الكفيل, الضامن, الوكيل, الوصي, الممثل,
    صاحب العمل, جهة العمل, اسم الاب, اسم الام, בן זוג, בת זוג, ערב$, מיופה כוח, אפוטרופוס, נציג, מעסיק, همسر, ضامن,
    وکیل, نماینده, کارفرما, نام پدر, vợ chồng, người bảo lãnh, người đại diện, người giám hộ, คู่สมรส, ผู้ค้ำประกัน,
    ผู้รับมอบอำนาจ, นายจ้าง, pasangan, penjamin, kuasa$, wali$, ahli waris, suami, istri, nama ibu`,
};

/** Words for things, so that a column is not one of names whatever it looks like. Matched in the same way. */
const things = `address, addr$, adres, anschrift, dirección, indirizzo, endereço, morada, osoite, cím$, lakcím, адрес,
  διεύθυνση, 地址, 住所, 주소, عنوان, العنوان, כתובת, ที่อยู่, dia chi, alamat, city, town, ort$, wohnort, geburtsort,
  stadt, ville, commune, lieu, ciudad, población, localidad, municipio, città, comune$, luogo, cidade, miasto,
  miejscowość, miejsce, mesto, misto, obec, város, település, oraș, localitate, grad$, naselje, kaupunki, paikkakunta,
  by$, bynavn, postort, poststed, stad$, säte, kommun, plaats, woonplaats, şehir, ilçe, il$, город, населен, место,
  місто, град$, πόλη, 市$, 도시, المدينة, עיר, เมือง, จังหวัด, thanh pho, kota$, linn$, pilsēta, miestas, street, str$,
  stras$, straße, rue$, voie$, calle, via$, rua$, ulica, ulice, utca, strada, gata$, gatuadress, gade$, vej$, katu,
  straat, sokak, cadde, улица, οδός, 街, jalan, đường, building, house, suburb, district, phone, tel$, telefon,
  téléphone, mobil, handy, fax, email, e mail, mail$, website, web$, url$, homepage, телефон, почта, τηλέφωνο, 电话, 邮箱,
  電話, メール, 전화, 이메일, هاتف, بريد, טלפון, דואל, โทร, อีเมล, dien thoai, occupation, profession, job, position, title,
  titel, titre, titolo, título, tytuł, titul$, beruf, tätigkeit, yrke, ammatti, stilling, beroep, functie, funktion,
  function, fonction, métier, emploi, ocupación, profesión, puesto, cargo, occupazione, profissão, zawód, stanowisko,
  povolání, zaměstnání, foglalkozás, beosztás, ocupație, profesie, zanimanje, poklic, meslek, профессия, должность,
  професія, посада, длъжност, επάγγελμα, 职业, 职务, 職業, 役職, 직업, 직위, المهنة, الوظيفة, מקצוע, תפקיד, อาชีพ, ตำแหน่ง,
  nghe nghiep, chuc vu, pekerjaan, jabatan, amet$, profesij, pareigos, product, produit, prodotto, produto, tuote,
  termék, ürün, продукт, προϊόν, 产品, 商品, 상품, منتج, san pham, produk, branch, filial, agence, agencia, sucursal,
  oficina, agenzia, sportello, oddział, pobočka, fiók, poslovnica, konttori, kontor, kantoor, şube, отделение, филиал,
  відділення, клон$, κατάστημα, 分行, 支行, 支店, 지점, فرع, סניף, สาขา, chi nhanh, cabang, status, state, stav$, stan$,
  statut$, estado, stato, tila$, állapot, durum, статус, состояние, 状态, 状態, 상태, حالة, סטטוס, comment, remark, note,
  notiz, bemerkung, kommentar, anmerkung, hinweis, anmärkning, merknad, bemærkning, huomautus, kommentti, opmerking,
  remarque, observ, comentario, nota$, notas$, uwag, komentarz, poznám, megjegyzés, napomen, opomb, açıklama,
  примечан, комментар, приміт, забележ, σχόλι, 备注, 備考, 비고, ملاحظ, הערות, หมายเหตุ, ghi chu, catatan, segment, sector,
  industr, channel, kanal, source, origin, purpose, zweck, kategori, catég, group, gruppe, region, county, province,
  department, abteilung, avdelning, afdeling, reason, grund$, description, beschreib, campaign, gender, geschlecht,
  sukupuoli, kön$, sex$, sexe, sexo, sesso, płeć, pohlaví, pol$, пол$, 性别, 性別, marital, familienstand, civil,
  salutation, anrede, religion, education, amount, betrag, belopp, beløb, income, einkommen, salary, balance, saldo,
  share$, shares$, anteil, percent, prozent, procent, quote$, udział$, udziały$, capital$, kapital$, date, datum,
  data$, dato$, fecha, дата, 日期, since, count$, number, anzahl, type, typ$, user, login, password, created, modified,
  updated, changed, file, path, system, plan$, tariff, scheme, model, brand, version, flag, code, iban, bic, vat,
  currency, language, bank$, banco, banque, banca, issuer, place, hobby, team, salesforce, lifecycle, stage,
  relation$, relationship$, vzťah, kinship, consent, limit, score, rating, level, reference, registry, register$`;

interface Phrase {
  text: string;
  kind: RelatedKind | 'thing';
}

const caseless = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** A phrase as it is looked for in ` folded header `: from the start of a word, and to its end after `$`. */
function toPhrases(list: string, kind: Phrase['kind']): readonly Phrase[] {
  return list.split(',').map((phrase) => {
    const folded = foldHeader(phrase);
    if (caseless.test(folded)) return { text: folded, kind };
    return { text: ` ${folded}${phrase.trim().endsWith('$') ? ' ' : ''}`, kind };
  });
}

/** The maiden name of a mother is no name of the customer. */
const weigh = ({ text, kind }: Phrase): number => text.length - (kind === 'alias' ? 100 : 0);

const related = Object.entries(phrases)
  .flatMap(([kind, list]) => (isKind(kind) ? toPhrases(list, kind) : []))
  .toSorted((one, other) => weigh(other) - weigh(one));
const ofThings = toPhrases(things, 'thing');

function isKind(kind: string): kind is RelatedKind {
  return Object.hasOwn(phrases, kind);
}

/** The meaning of a header for the question whether its column holds names of people or firms. */
export interface RelatedHeader {
  /** `things`: the header says that it holds something else. `open`: it says nothing. */
  says: 'related' | 'own' | 'things' | 'open';
  kind: RelatedKind;
  /** What of the party: a name or a part of it, another fact of a party, or an unknown word beside the party. */
  fact: 'name' | 'first_name' | 'last_name' | 'birth_date' | 'countries' | 'unknown';
  /** Equal for the columns of one party. */
  party: string;
}

const staff = /\b(?:account|contact|record|lead|deal|opportunity|case|system|data|product|risk|business) owner/;

/** Reads whether a header names people or firms beside the customer. */
export function readRelatedHeader(header: string): RelatedHeader {
  const folded = ` ${foldHeader(header)} `;
  const found = related.find(({ text }) => folded.includes(text));
  if (found !== undefined && found.kind !== 'thing') {
    const kind = staff.test(folded) ? 'other' : found.kind;
    return { kind, ...readRest(folded, found.text) };
  }
  const { role, strength, isOther } = readHeader(header);
  const none = { kind: 'other', fact: 'unknown', party: '' } as const;
  if (role === 'aliases') return { ...none, says: 'own', kind: 'alias', fact: 'name' };
  if (role === 'name' || role === 'first_name' || role === 'last_name' || role === 'company') {
    return { ...none, says: strength > 1 ? 'own' : isThing(folded) ? 'things' : 'open', fact: 'name' };
  }
  return { ...none, says: role !== null || isOther || isThing(folded) ? 'things' : 'open' };
}

/** Words that add nothing to the word for the party. */
const fillers = new Set(
  foldHeader(
    'person persons party holder holders osoba osoby persona personas personne pessoa persoana lice лицо лица sahibi haver havare owner member members',
  ).split(' '),
);

const isThing = (folded: string): boolean => ofThings.some(({ text }) => folded.includes(text));

/** Reads the words beside those for the party: `name` in `guarantor name`, `phone` in `guarantor phone`. */
function readRest(folded: string, phrase: string): Omit<RelatedHeader, 'kind'> {
  const at = folded.indexOf(phrase);
  const end = caseless.test(phrase) ? at + phrase.length : folded.indexOf(' ', at + phrase.trimEnd().length);
  const words = `${folded.slice(0, at)} ${folded.slice(end < 0 ? folded.length : end)}`.trim().split(/\s+/);
  const numbers = words.filter((word) => /^\d+$/.test(word));
  const rest = words.filter((word) => word.length > 1 && !/^\d+$/.test(word) && !fillers.has(word)).join(' ');
  const party = `${phrase.trim()} ${numbers.join(' ')}`.trim();
  const isOfSeveral = related.some(({ text }) => ` ${rest} `.includes(text));
  if (rest === '' || isOfSeveral) return { says: 'related', fact: 'name', party };
  const { role, isOther } = readHeader(rest);
  switch (role) {
    case 'name':
    case 'company':
    case 'aliases':
      return { says: 'related', fact: 'name', party };
    case 'first_name':
    case 'last_name':
      return { says: 'related', fact: role, party };
    case 'birth_date':
    case 'countries':
      return { says: 'things', fact: role, party };
    case null:
      return { says: isOther || isThing(` ${rest} `) ? 'things' : 'related', fact: 'unknown', party };
    default:
      return { says: 'things', fact: 'unknown', party };
  }
}
