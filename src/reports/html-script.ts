import { createHash } from 'node:crypto';

/** The page's script: filters and sorts the changes, sorts tables by their headers. Without it everything is there to be read. */
export const reportScript = `
'use strict';
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const fold = (text) => text.normalize('NFKD').replace(/\\p{M}/gu, '').toLowerCase();
  const order = new Intl.Collator('en', { numeric: true });

  const tools = document.querySelector('.tools');
  if (tools) {
    const [text, severity, cause, sort, told] = ['text', 'severity', 'cause', 'sort', 'told'].map((name) => tools.querySelector('[data-tool=' + name + ']'));
    const lines = all('#changes [data-score], #changes .hits tbody tr:not(.kind)').map((element, place) => ({
      element, place,
      list: element.parentElement,
      section: element.closest('.severity'),
      text: fold(element.textContent),
      customer: (element.querySelector('.reference') || element.cells[0]).textContent,
      cause: element.closest('[data-cause]')?.dataset.cause,
      score: Number(element.dataset.score || (element.cells[4]?.textContent ?? '0').split(' ').pop()),
      since: element.dataset.since || '9',
    }));
    const by = {
      listed: (a, b) => a.place - b.place,
      customer: (a, b) => order.compare(a.customer, b.customer) || a.place - b.place,
      score: (a, b) => b.score - a.score || a.place - b.place,
      since: (a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : a.place - b.place),
    };
    const filter = () => {
      const wanted = fold(text.value.trim());
      let shown = 0;
      for (const line of lines) {
        const fits = line.text.includes(wanted)
          && (cause.value === '' || !line.cause || line.cause === cause.value)
          && (severity.value === '' || line.section.classList.contains(severity.value));
        line.element.hidden = !fits;
        if (fits) shown += 1;
      }
      const filtered = wanted !== '' || cause.value !== '' || severity.value !== '';
      const open = new Set(lines.flatMap((line) => (line.element.hidden ? [] : [line.section])));
      for (const section of all('#changes .severity')) section.hidden = filtered && !open.has(section);
      told.textContent = filtered ? shown.toLocaleString('en') + ' of ' + lines.length.toLocaleString('en') + ' on this page' : '';
    };
    const arrange = () => {
      for (const line of [...lines].sort(by[sort.value])) line.list.append(line.element);
    };
    tools.hidden = false;
    text.addEventListener('input', filter);
    severity.addEventListener('change', filter);
    cause.addEventListener('change', filter);
    sort.addEventListener('change', arrange);
    filter();
    if (sort.value !== 'listed') arrange();
  }

  for (const table of all('table.list')) {
    if (table.rows.length < 11) continue;
    const heads = all('thead th', table);
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        for (const other of heads) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        for (const body of table.tBodies) {
          const rows = [...body.rows].filter((row) => !row.matches('.kind')).map((row) => ({ row, text: row.cells[column].textContent }));
          rows.sort((a, b) => (down ? order.compare(b.text, a.text) : order.compare(a.text, b.text)));
          for (const { row } of rows) body.append(row);
        }
      });
    });
  }
})();
`;

/** The source that the page's policy allows for its script. */
export const reportScriptSource = `'sha256-${createHash('sha256').update(reportScript).digest('base64')}'`;
