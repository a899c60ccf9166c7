// @ts-check
// Filters and sorts the changes, and sorts tables by their heads. The page is complete without it.

/**
 * A change on the page.
 * @typedef {object} Line
 * @property {HTMLElement} element
 * @property {number} place
 * @property {Element | null} section
 * @property {string} text
 * @property {string} customer
 * @property {string | undefined} cause
 * @property {number} score
 * @property {string} since
 */

const order = new Intl.Collator('en', { numeric: true });

/** @param {string} text */
const fold = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/**
 * @param {HTMLElement} element
 * @param {number} place
 * @returns {Line}
 */
function readLine(element, place) {
  return {
    element,
    place,
    section: element.closest('.severity'),
    text: fold(element.textContent),
    customer: element.querySelector('.reference')?.textContent ?? '',
    cause: element.dataset['cause'],
    score: Number(element.dataset['score']),
    since: element.dataset['since'] || '9',
  };
}

/** @type {Record<string, (one: Line, other: Line) => number>} */
const comparisons = {
  listed: (one, other) => one.place - other.place,
  customer: (one, other) => order.compare(one.customer, other.customer) || one.place - other.place,
  score: (one, other) => other.score - one.score || one.place - other.place,
  since: (one, other) => {
    if (one.since === other.since) return one.place - other.place;
    return one.since < other.since ? -1 : 1;
  },
};

/** @param {HTMLElement} tools */
function prepareTools(tools) {
  const text = tools.querySelector('input');
  const output = tools.querySelector('output');
  const [severity, cause, sort] = tools.querySelectorAll('select');
  if (!text || !output || !severity || !cause || !sort) return;

  /** @type {Line[] | undefined} */
  let read;
  // Read at the first use: thousands of lines would delay the first paint.
  const readLines = () => {
    if (read) return read;
    /** @type {NodeListOf<HTMLElement>} */
    const found = document.querySelectorAll('#changes [data-score]');
    read = [...found].map(readLine);
    return read;
  };

  const filter = () => {
    const lines = readLines();
    const wanted = fold(text.value.trim());
    for (const line of lines) {
      const fits =
        line.text.includes(wanted) &&
        (cause.value === '' || line.cause === cause.value) &&
        (severity.value === '' || line.section?.classList.contains(severity.value));
      line.element.hidden = !fits;
    }
    const shown = lines.filter(({ element }) => !element.hidden);
    const isFiltered = [wanted, cause.value, severity.value].some((value) => value !== '');
    const open = new Set(shown.map(({ section }) => section));
    for (const section of document.querySelectorAll('#changes .severity')) {
      section.toggleAttribute('hidden', isFiltered && !open.has(section));
    }
    const count = `${shown.length.toLocaleString('en')} of ${lines.length.toLocaleString('en')} on this page`;
    output.textContent = isFiltered ? count : '';
  };

  const arrange = () => {
    const sorted = [...readLines()].sort(comparisons[sort.value]);
    for (const { element } of sorted) element.parentElement?.append(element);
  };

  tools.hidden = false;
  text.addEventListener('input', filter);
  severity.addEventListener('change', filter);
  cause.addEventListener('change', filter);
  sort.addEventListener('change', arrange);
  // A browser may restore what was entered before.
  if ([text, severity, cause].some(({ value }) => value !== '')) filter();
  if (sort.value !== 'listed') arrange();
}

/**
 * @param {HTMLTableElement} table
 * @param {number} column
 * @param {boolean} isDescending
 */
function sortRows(table, column, isDescending) {
  for (const body of table.tBodies) {
    const rows = [...body.rows].map((row) => ({ row, text: row.cells[column]?.textContent ?? '' }));
    rows.sort((one, other) => order.compare(one.text, other.text) * (isDescending ? -1 : 1));
    for (const { row } of rows) body.append(row);
  }
}

/** @param {HTMLTableElement} table */
function prepareHeads(table) {
  const heads = [...table.querySelectorAll('thead th')];
  for (const [column, head] of heads.entries()) {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const isDescending = head.getAttribute('aria-sort') === 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', isDescending ? 'descending' : 'ascending');
      sortRows(table, column, isDescending);
    });
  }
}

/** @type {HTMLElement | null} */
const tools = document.querySelector('.tools');
if (tools) prepareTools(tools);

/** @type {NodeListOf<HTMLTableElement>} */
const tables = document.querySelectorAll('table.list');
for (const table of tables) {
  if (table.rows.length > 10) prepareHeads(table);
}
