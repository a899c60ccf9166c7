/** Which kind of name is compared; people and organisations use different small words. */
export type NameKind = 'person' | 'entity';

const words = (list: string): readonly string[] => list.trim().split(/\s+/);

const PARTICLES = new Set(
  words(
    'al el ul ad as ash at an ar bin ben ibn bint de del della di da dos do du van von der den la le y e of the abu',
  ),
);
const TITLES = new Set(words('mr mrs ms dr prof sir haji hajji mullah maulavi mawlawi sheikh shaykh jr sr ii iii'));

const LEGAL_FORMS = new Map<string, string>(
  [
    'ltd limited ltda limitada',
    'llc ooo',
    'inc incorporated corp corporation co company',
    'sa sab ag ao oao pao zao jsc ojsc pjsc cjsc as asa ab oy oyj spa plc',
    'gmbh sarl srl sl bv nv kft doo',
    'lp llp kg cv',
  ].flatMap((group) => {
    const forms = words(group);
    return forms.map((form): [string, string] => [form, forms[0] ?? form]);
  }),
);

const GENERIC = new Set(
  words(`the and of for de la et und y e group holding holdings international intl trading trade bank banco banque
  industries industry industrial services service general national enterprise enterprises import export commercial
  investment investments management shipping technology technologies engineering construction global solutions capital
  partners consulting foundation organization organisation association institute center centre`),
);

/** Brings spellings of one legal form together ("Limited", "Ltda" and "Ltd"); other words stay as they are. */
export const unifyLegalForm = (text: string): string => LEGAL_FORMS.get(text) ?? text;

/** How much a word tells names apart: 1 for a distinctive word, less for initials, particles and legal forms. */
export const wordWeight = (text: string, kind: NameKind): number => {
  if (kind === 'entity') {
    if (LEGAL_FORMS.has(text)) return 0.1;
    if (GENERIC.has(text)) return text.length <= 3 ? 0.1 : 0.5;
    return text.length === 1 ? 0.4 : 1;
  }
  if (PARTICLES.has(text) || TITLES.has(text)) return 0.2;
  return text.length === 1 ? 0.4 : text.length === 2 ? 0.8 : 1;
};
