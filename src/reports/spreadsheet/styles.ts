import { workbookFont } from '../workbook-text.js';

const size = `<sz val="${workbookFont.size}"/>`;
const fonts = {
  normal: size,
  bold: `<b/>${size}`,
  title: '<b/><sz val="15"/>',
  warning: `<b/>${size}<color rgb="FFB00020"/>`,
} as const;

const solid = (rgb: string): string =>
  `<patternFill patternType="solid"><fgColor rgb="FF${rgb}"/><bgColor indexed="64"/></patternFill>`;
// The format reserves the first two.
const fills = {
  none: '<patternFill patternType="none"/>',
  reserved: '<patternFill patternType="gray125"/>',
  header: solid('DDE3EA'),
  fillHeader: solid('FFE08A'),
  fill: solid('FFF8DC'),
} as const;

interface Style {
  font: keyof typeof fonts;
  fill: keyof typeof fills;
  hasBorder: boolean;
  /** Long text runs over several lines; else over the next cells, where they are empty. */
  isWrapped: boolean;
  isLocked: boolean;
  isFigure: boolean;
}

const plain: Style = {
  ...{ font: 'normal', fill: 'none', hasBorder: false, isWrapped: true, isLocked: true, isFigure: false },
};
const text: Style = { ...plain, hasBorder: true };
const styles = {
  plain,
  title: { ...plain, font: 'title', isWrapped: false },
  warning: { ...plain, font: 'warning' },
  heading: { ...plain, font: 'bold', isWrapped: false },
  header: { ...text, font: 'bold', fill: 'header' },
  fillHeader: { ...text, font: 'bold', fill: 'fillHeader' },
  text,
  figure: { ...text, isFigure: true },
  fill: { ...text, fill: 'fill', isLocked: false },
} as const satisfies Readonly<Record<string, Style>>;

/** How a cell looks; all but `fill` are locked. */
export type StyleName = keyof typeof styles;

const names = Object.keys(styles);

/** The number by which a sheet names a style. */
export const toStyleNumber = (name: StyleName): number => names.indexOf(name);

/** Whether long text of this style runs over several lines. */
export const isWrapped = (name: StyleName): boolean => styles[name].isWrapped;

const sides = ['left', 'right', 'top', 'bottom'];
const border = sides.map((side) => `<${side} style="thin"><color rgb="FFC8C8C8"/></${side}>`).join('');
const noBorder = sides.map((side) => `<${side}/>`).join('');

// With commas between the thousands, and apart from what is said beside it.
const figure = { numbers: 3, side: ' horizontal="right" indent="1"' };

/** The part of a workbook that holds all styles; each cell takes its direction from its own text. */
export function renderStyles(): string {
  const formats = Object.values<Style>(styles).map(renderFormat);
  return [
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">',
    list(
      'fonts',
      Object.values(fonts).map((xml) => `<font>${xml}<name val="${workbookFont.name}"/></font>`),
    ),
    list(
      'fills',
      Object.values(fills).map((xml) => `<fill>${xml}</fill>`),
    ),
    list(
      'borders',
      [noBorder, border].map((xml) => `<border>${xml}<diagonal/></border>`),
    ),
    list('cellStyleXfs', ['<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>']),
    list('cellXfs', formats),
    list('cellStyles', ['<cellStyle name="Normal" xfId="0" builtinId="0"/>']),
    '</styleSheet>',
  ].join('');
}

const list = (name: string, entries: readonly string[]): string =>
  `<${name} count="${entries.length}">${entries.join('')}</${name}>`;

function renderFormat(style: Style): string {
  const font = Object.keys(fonts).indexOf(style.font);
  const fill = Object.keys(fills).indexOf(style.fill);
  const { numbers, side } = style.isFigure ? figure : { numbers: 0, side: '' };
  return `<xf numFmtId="${numbers}" fontId="${font}" fillId="${fill}" borderId="${style.hasBorder ? 1 : 0}" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1" applyAlignment="1" applyProtection="1"><alignment vertical="top"${side}${style.isWrapped ? ' wrapText="1"' : ''}/><protection locked="${style.isLocked ? 1 : 0}"/></xf>`;
}
