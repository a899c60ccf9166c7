import type { BoundColumn } from './headers.js';

const totalWords =
  `total, totals, totaux, totale, totali, totaal, totalt, totalsumma, summe, gesamt, gesamtsumme, gesamtzahl, gesamtanzahl,
  insgesamt, somme, sum, suma, soma, summa, razem, ogółem, łącznie, anzahl, nombre, numero, count, row count, record count, rows, records, i alt,
  yhteensä, összesen, celkem, spolu, skupaj, ukupno, toplam, итого, всего, разом, усього, σύνολο, المجموع, الإجمالي, סה"כ, 合計, 合计, 总计, 總計,
  小计, 小計, 共计, 합계, 총계, รวม, tổng, tổng cộng`
    .split(',')
    .map((word) => word.trim().replace(/\s+/g, ' '))
    .join('|');
const counted =
  'rows?|records?|lines?|entries|customers?|clients?|clienti|klient\\p{L}*|kunder|asiakasta|клиент\\p{L}*|zeilen|datensätze|sätze|kunden|lignes?|enregistrements?|filas?|registros?|righe|record|rekordów|wierszy|rader|rækker|rivit|строк\\p{L}*|запис\\p{L}*|行|件|条';

/** A word for a total, alone or with a figure, as in `Grand total`, `Summe:` and `Total rows: 3`. */
const totalPhrase = new RegExp(
  `^(?:grand |sub[ -]?)?(?:${totalWords})(?: (?:${counted}))?\\s{0,3}[:=]?[\\d\\s.,']{0,30}$`,
  'iu',
);
/** What databases and reports write below the last row. */
const footers: readonly RegExp[] = [
  new RegExp(`^\\(?\\d[\\d.,]{0,12} (?:${counted})(?![\\p{L}\\p{N}])[^;]{0,40}$`, 'iu'),
  /^(?:end of|ende d\p{L}{1,2}|fin du?|fin de la|fine(?: d\p{L}{1,4})?|koniec|конец|slut på)\s(?:the )?(?:report|file|data|list|listing|export|extract|berichts?|datei|liste|rapport|fichier|informe|archivo|file|stampa|elenco|estrazione|wydruku|raportu|pliku|отчета|файла)[.\s*=-]{0,20}$/iu,
  /^(?:[-*=#<>_]{1,20}\s{0,3})(?:end|ende|fin|fine|slut|koniec|конец|eof)\b[\p{L}\s]{0,30}[-*=#<>_\s]{1,20}$/iu,
  /^(?:page|seite|side|sida|página|pagina|strona|страница)\s\d{1,6}(?:\s?(?:of|von|de|av|af|di|z|из|\/)\s?\d{1,6})?$/iu,
  /^eof$/i,
];
const ruler = /^[-=_*~+#|\s]{2,}$/;
const hasLetter = /\p{L}/u;

/**
 * What a row is that is no customer, also if its first cell is in the column of the id; null for a customer. It is
 * recognised only where it gives no name: Total SA and a customer TOTAL-17 are customers.
 */
export function findNoCustomer(
  {
    headers,
    id,
    name,
  }: { headers: readonly string[]; id: readonly BoundColumn[]; name: { columns: readonly BoundColumn[] } },
  fields: readonly string[],
): 'repeated header' | 'total line' | 'footer' | 'line between rows' | null {
  const [idColumn] = id;
  const ownId = (fields[idColumn?.index ?? 0] ?? '').trim();
  const isNamed = name.columns.some(({ index }) => hasLetter.test(fields[index] ?? ''));
  if (isNamed) {
    if (ownId !== '' && !isSame(ownId, idColumn?.header)) return null;
    if (repeatsHeader(headers, fields)) return 'repeated header';
  }
  const cells = fields.map((field) => field.trim()).filter((cell) => cell !== '');
  const [first = '', ...others] = cells;
  if (first === '') return null;
  if (cells.every((cell) => ruler.test(cell))) return 'line between rows';
  // Without an id, the word may be in the column of the name.
  const isTotal = totalPhrase.test(first) && (isNamed ? ownId === '' : true);
  if (isTotal && (ownId === first || !others.some((cell) => hasLetter.test(cell)))) return 'total line';
  return others.length === 0 && footers.some((footer) => footer.test(first)) ? 'footer' : null;
}

function isSame(cell: string, header: string | undefined): boolean {
  if (header === undefined || (cell.length !== header.length && isAscii.test(cell))) return false;
  return cell.normalize('NFC').toLowerCase() === header.toLowerCase();
}

const isAscii = /^[ -~]*$/;

/** Whether two cells or more are given, and each is its own header. */
function repeatsHeader(headers: readonly string[], fields: readonly string[]): boolean {
  const filled = fields.flatMap((field, at) =>
    field.trim() === '' ? [] : [{ cell: field.trim(), header: headers[at] }],
  );
  return filled.length > 1 && filled.every(({ cell, header }) => isSame(cell, header));
}
