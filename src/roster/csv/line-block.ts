/** Consecutive physical lines of a file, without their endings. */
export interface LineBlock {
  /** The number of the first of them in the file, from 1. */
  firstLine: number;
  texts: readonly string[];
  /** How each of them ends (`\n`, `\r\n`, `\r`), or one ending where all have the same. */
  endings: string | readonly string[];
  /** False where no line has a quote, so that delimiters alone decide. */
  hasQuote: boolean;
  /** Whether nothing follows in the file. */
  isLast: boolean;
  /** Whether it is the last, and its last line has no ending. */
  isOpen: boolean;
}

/** Gives lines of a block as they lie, without the ending of the last. */
export function joinLines(block: LineBlock, from: number, count: number): string {
  let text = block.texts[from] ?? '';
  for (let at = from + 1; at < from + count; at += 1) text += endingAt(block, at - 1) + (block.texts[at] ?? '');
  return text;
}

/** Gives the lines of a block from one of them on. */
export function sliceBlock(block: LineBlock, from: number, to = block.texts.length): LineBlock {
  const { texts, endings } = block;
  return {
    ...block,
    firstLine: block.firstLine + from,
    texts: texts.slice(from, to),
    endings: typeof endings === 'string' ? endings : endings.slice(from, to),
  };
}

/** Makes one block of two that follow each other. */
export function joinBlocks(one: LineBlock, other: LineBlock): LineBlock {
  const isUniform = typeof one.endings === 'string' && one.endings === other.endings;
  return {
    firstLine: one.firstLine,
    texts: [...one.texts, ...other.texts],
    endings: isUniform ? one.endings : [...listEndings(one), ...listEndings(other)],
    hasQuote: one.hasQuote || other.hasQuote,
    isLast: other.isLast,
    isOpen: other.isOpen,
  };
}

function listEndings(block: LineBlock): readonly string[] {
  return block.texts.map((_, at) => endingAt(block, at));
}

function endingAt({ endings }: LineBlock, at: number): string {
  return typeof endings === 'string' ? endings : (endings[at] ?? '');
}
