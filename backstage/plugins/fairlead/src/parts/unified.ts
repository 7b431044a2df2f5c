/** A line of a diff with its number in the file before and after the change. */
export interface DiffLine {
  kind: 'added' | 'removed' | 'kept' | 'note';
  text: string;
  old?: number;
  new?: number;
}

/** Lines that follow each other, and what their header says of where they are. */
export interface DiffHunk {
  header: string;
  lines: DiffLine[];
}

/** What changes in one file. */
export interface DiffFile {
  /** Its name before; undefined where the change adds it. */
  from?: string;
  /** Its name afterwards; undefined where the change removes it. */
  to?: string;
  /** What is said instead of lines, such as that the file is no text. */
  notes: string[];
  hunks: DiffHunk[];
  /** The part of the diff that is about this file. */
  text: string;
}

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const binary = /^Binary files (.+) and (.+) differ$/;

const nameOf = (path: string) => {
  const name = path.split('\t')[0];
  return name === '/dev/null' ? undefined : name;
};

const together = (lines: string[]) => lines.map(l => `${l}\n`).join('');

/** Git's a/ and b/ are no part of the names, where both have them. */
function withoutPrefixes(file: DiffFile) {
  const { from, to } = file;
  if ((from ?? 'a/').startsWith('a/') && (to ?? 'b/').startsWith('b/')) {
    file.from = from?.slice(2);
    file.to = to?.slice(2);
  }
}

/**
 * Reads a unified diff. What it does not know, such as the lines by which Git
 * begins a file, is kept as a note or left out; a diff that was cut is read as
 * far as it goes.
 */
export function readDiff(text: string): DiffFile[] {
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  const files: DiffFile[] = [];
  let start = 0; // the first line of the newest file
  let git = false; // the newest file was begun by a line of Git's
  const begin = (at: number, from?: string, to?: string) => {
    const last = files[files.length - 1];
    if (last) last.text = together(lines.slice(start, at));
    start = at;
    files.push({ from, to, notes: [], hunks: [], text: '' });
  };

  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const file = files[files.length - 1];
    const header = hunkHeader.exec(line);
    if (line.startsWith('diff ')) {
      begin(at++);
      git = true;
    } else if (line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ')) {
      const names = [nameOf(line.slice(4)), nameOf(lines[at + 1].slice(4))];
      if (git && file) [file.from, file.to] = names;
      else begin(at, names[0], names[1]);
      at += 2;
    } else if (header && file) {
      git = false;
      at = readHunk(lines, at, header, file);
    } else {
      const names = binary.exec(line);
      if (names && git) [file.from, file.to] = names.slice(1).map(nameOf);
      else if (names) begin(at, nameOf(names[1]), nameOf(names[2]));
      else if (!file) begin(at);
      if (names || !git) files[files.length - 1].notes.push(line);
      git = git && !names;
      at++;
    }
  }
  begin(lines.length);
  files.pop();
  files.forEach(withoutPrefixes);
  return files;
}

const kinds: Record<string, DiffLine['kind']> = {
  '+': 'added',
  '-': 'removed',
  ' ': 'kept',
  '\\': 'note',
  '': 'kept', // an empty line whose space was trimmed
};

/** Adds the hunk at a line to a file; gives the line after it. */
function readHunk(
  lines: string[],
  at: number,
  header: RegExpExecArray,
  file: DiffFile,
): number {
  let [was, is] = [Number(header[1]), Number(header[3])];
  const ends = [was + Number(header[2] ?? 1), is + Number(header[4] ?? 1)];
  const hunk: DiffHunk = { header: header[0], lines: [] };
  hunk.header += lines[at].slice(header[0].length);
  file.hunks.push(hunk);
  let next = at + 1;
  for (; next < lines.length; next++) {
    const kind = kinds[lines[next].charAt(0)];
    if (!kind || (kind !== 'note' && was >= ends[0] && is >= ends[1])) break;
    hunk.lines.push({
      kind,
      text: lines[next].slice(1),
      ...((kind === 'removed' || kind === 'kept') && { old: was++ }),
      ...((kind === 'added' || kind === 'kept') && { new: is++ }),
    });
  }
  return next;
}
