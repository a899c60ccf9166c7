/** Tells whether a path has a sign of a pattern: `*`, `?` or `[`. */
export function isPattern(path: string): boolean {
  return /[*?[]/.test(path);
}

/** Compiles one segment of a pattern: `*` any characters, `?` one, `[a-c]` and `[!a-c]` one of or none of them; a leading dot is matched only by a dot. */
export function compileSegment(segment: string): RegExp {
  const parts = segment.match(/\[[!^]?\]?[^\]]*\]|\*+|[\s\S]/gu) ?? [];
  const source = parts.map((part) => {
    if (part.startsWith('*')) return '.*';
    if (part === '?') return '.';
    return part.length > 2 && part.startsWith('[') ? compileSet(part.slice(1, -1)) : escapeSigns(part);
  });
  const notHidden = segment.startsWith('.') ? '' : '(?!\\.)';
  return tryCompile(`^${notHidden}${source.join('')}$`) ?? new RegExp(`^${escapeSigns(segment)}$`, 'su');
}

/** A set whose range runs backwards has no meaning; such a segment stands for itself. */
function tryCompile(source: string): RegExp | null {
  try {
    return new RegExp(source, 'su');
  } catch {
    return null;
  }
}

function compileSet(content: string): string {
  const isExcluding = content.startsWith('!') || content.startsWith('^');
  const signs = (isExcluding ? content.slice(1) : content).replaceAll(/[\\\][^]/g, '\\$&');
  // A leading or trailing dash stands for itself.
  return `[${isExcluding ? '^' : ''}${signs.replace(/^-/, '\\-').replace(/-$/, '\\-')}]`;
}

function escapeSigns(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
