import type { PartyType, RiskTier } from '../customer.js';

/** Words in daily use for what a customer is, in lower case. */
export const typeWords: Readonly<Record<PartyType, readonly string[]>> = {
  person:
    'person, individual, natural, natural person, private, private individual, retail, p, i, ind, np, privat, privatperson, natürliche person, personne physique, particulier, persona fisica, osoba fizyczna'.split(
      ', ',
    ),
  entity:
    'entity, organisation, organization, company, corporate, corporation, business, legal, legal entity, legal person, firm, trust, foundation, e, c, o, b, org, le, erhverv, virksomhed, firma, juristische person, personne morale, entreprise, empresa, persona juridica, persona giuridica, osoba prawna'.split(
      ', ',
    ),
};
/** Words in daily use for how closely a customer is watched; numbers are left out, for who knows which end of them is high. */
export const tierWords: Readonly<Record<RiskTier, readonly string[]>> = {
  low: 'low, l, simplified, niedrig, lav, låg, laag, faible, bajo, basso, baixo, green'.split(', '),
  medium:
    'medium, med, m, normal, standard, mittel, mellem, middels, medel, middel, gemiddeld, moyen, medio, médio, amber, yellow'.split(
      ', ',
    ),
  high: 'high, h, enhanced, very high, hoch, høj, høy, hög, hoog, élevé, alto, red'.split(', '),
};
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
