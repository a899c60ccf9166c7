import type { PartyType, RiskTier } from '../customer.js';

/** Words in daily use for what a customer is, in lower case. */
export const typeWords: Readonly<Record<PartyType, readonly string[]>> = {
  person:
    split(`person, individual, indiv, natural, natural person, private, private individual, private person, private customer, retail, consumer, p, i, ind, indv, np, nat,
    privat, privatperson, privatkunde, natürlich, natürliche person, einzelperson, mensch, personne physique, physique, pp, particulier, particulière, natuurlijk persoon, persona fisica, persona física, física,
    fisica, pf, pessoa física, particular, osoba fizyczna, fyzická osoba, fo, henkilö, yksityishenkilö, magánszemély, természetes személy, bireysel, gerçek kişi, şahıs, persoană fizică, fizička osoba, фл, физлицо,
    физическое лицо, физ. лицо, φυσικό πρόσωπο, 个人, 個人, 自然人, 개인, فرد, شخص طبيعي`),
  entity:
    split(`entity, organisation, organization, company, corporate, corporation, business, legal, legal entity, legal person, juridical, firm, trust, foundation, partnership, commercial,
    institution, association, charity, vessel, ship, aircraft, e, c, o, b, org, corp, le, lp, jur, erhverv, virksomhed, selskab, firma, firmakunde, unternehmen, gesellschaft, verein, stiftung, juristisch, juristische person, personne morale, morale, pm, entreprise,
    société, association, rechtspersoon, zakelijk, bedrijf, empresa, persona juridica, persona jurídica, jurídica, juridica, pj, pessoa jurídica, persona giuridica, giuridica, pg, azienda, società, företag, foretak, bedrift, bolag, juridisk person, yritys, osoba prawna, przedsiębiorstwo,
    právnická osoba, po, cég, vállalat, jogi személy, kurumsal, tüzel kişi, şirket, persoană juridică, pravna osoba, юл, юрлицо, юридическое лицо, юр. лицо, организация, компания, νομικό πρόσωπο, εταιρεία, 企业, 公司, 法人, 机构, 법인, شركة, شخص اعتباري, مؤسسة`),
};

/** How letters begin, in lower case: a column of these alone distinguishes no customers. */
export const salutations: Readonly<Record<PartyType, readonly string[]>> = {
  person:
    split(`mr, mr., mrs, mrs., ms, ms., miss, mister, dr, dr., prof, prof., sir, lady, herr, frau, herrn, herr dr., frau dr., m., mme, mme., mlle, monsieur, madame, sr, sr., sra, sra., señor, señora,
    don, doña, sig., sig.ra, sig, signor, signora, dott., hr, hr., fru, heer, mevrouw, dhr., mevr., dhr, mevr, pan, pani, bay, bayan, г-н, г-жа`),
  entity: split('firma, company, firm, sté, ste, société, messrs, m/s, fa., fa, spett.le, bedrijf, empresa, ditta'),
};

/** Words in daily use for how closely a customer is watched; numbers are left out, for who knows which end of them is high. */
export const tierWords: Readonly<Record<RiskTier, readonly string[]>> = {
  low: split(
    'low, l, simplified, niedrig, gering, lav, låg, laag, faible, bajo, basso, baixo, niskie, nízké, alacsony, düşük, низкий, green',
  ),
  medium: split(
    'medium, med, m, normal, standard, mittel, mellem, middels, medel, middel, gemiddeld, moyen, medio, médio, średnie, střední, közepes, orta, средний, amber, yellow',
  ),
  high: split(
    'high, h, enhanced, very high, hoch, erhöht, høj, høy, hög, hoog, élevé, alto, wysokie, vysoké, magas, yüksek, высокий, red',
  ),
};

function split(list: string): readonly string[] {
  return list.split(',').map((word) => word.trim());
}

/** Gives the word of ours that an own word stands for, or null. */
export function toWord<Word extends string>(
  words: Readonly<Record<Word, readonly string[]>>,
  own: string,
): Word | null {
  for (const word in words) if (words[word].includes(own.trim().toLowerCase())) return word;
  return null;
}

/** Gives the value map of a column's own words, and those that stand for none of ours. */
export function toValues<Word extends string>(
  words: Readonly<Record<Word, readonly string[]>>,
  own: readonly string[],
): { values: Record<string, Word>; unknown: string[] } {
  const values: Record<string, Word> = {};
  const unknown: string[] = [];
  for (const value of own) {
    const word = toWord(words, value);
    if (word === null) unknown.push(value);
    else values[value] = word;
  }
  return { values, unknown };
}
