const forms =
  `ltd limited plc llp llc lp inc incorporated corp corporation company gmbh ag kg kgaa ohg gbr ug ek ev eg se sarl sa sas sasu eurl sci snc srl spa
  sl slu aps ab oy oyj asa bv nv vof cv kft zrt nyrt bt sro ooo pty pte bhd sdn doo jsc pjsc ojsc holding holdings group trust foundation stiftung fund bank
  lda ltda eireli spółka osaühing oü sia uab eood hb kb amba publ fze fzco dmcc scarl onlus
  ооо ао зао пао оао тов αε επε οε ike`
    .split(/\s+/)
    .join('|');

const openings =
  `ооо ао зао пао оао тов pt fundacja stowarzyszenie spółdzielnia stiftelsen stiftung fondation fundación fondazione stichting verein
  przedsiębiorstwo gmina foundation شركة บริษัท`
    .split(/\s+/)
    .join('|');

const legalForm = new RegExp(
  `(^|\\s)(${forms}|a/s|i/s|k/s|as|sp z ?o ?o|sp zoo|sp [jk]|a ş|aş|ltd şti|co|בע"מ)$|^(${openings}|công ty|cong ty)\\s|&\\s*co(\\s|$)|公司$|株式会社|有限会社|주식회사|\\s(شمم|ذمم)$`,
  'u',
);

/** Surnames that are written like a legal form without its dots and capitals. */
const surnames = /\s(?:Ek|EK|Sa|Se|As|Eg|Ev|Ag)$/;

/** Whether a name has a legal form, such as `Ltd` or `ООО`. */
export const isCompanyName = (name: string): boolean =>
  /\s|公司|会社|회사/.test(name) && !surnames.test(name) && legalForm.test(name.toLowerCase().replace(/[.,]/g, ''));
