import type { ChangeInput } from './proposals.generated';

/** What a form for a change holds. */
export interface ChangeForm {
  what: 'image' | 'replicas' | 'set';
  name: string;
  tag: string;
  digest: string;
  replicas?: number;
  file: string;
  values: { file: string; path: string; value: string }[];
  reason: string;
  /** One on each line. */
  evidence: string;
}

export const noValue = { file: '', path: '', value: '' };

export const emptyForm: ChangeForm = {
  what: 'image',
  name: '',
  tag: '',
  digest: '',
  file: '',
  values: [noValue],
  reason: '',
  evidence: '',
};

/** What is wrong with a form, by field. */
export type Problems = Partial<Record<string, string>>;

/** Has a field say what is wrong with it. */
export const checked = (problem?: string) => ({
  validationBehavior: 'aria' as const,
  validate: () => problem,
});

const digest = /^sha256:[0-9a-f]{64}$/;

/** Tells what is wrong with a form, whatever is deployed. */
export function problemsOf(f: ChangeForm): Problems {
  const out: Problems = {};
  if (f.what === 'image') {
    if (!f.tag.trim() && !f.digest.trim()) out.tag = 'Give a tag or a digest.';
    if (f.digest.trim() && !digest.test(f.digest.trim())) {
      out.digest = 'A digest is sha256: and 64 hexadecimal digits.';
    }
  }
  if (f.what === 'replicas' && !(f.replicas! >= 0)) {
    out.replicas = 'Give how many there are to be.';
  }
  if (f.what === 'set') {
    f.values.forEach((v, i) => {
      if (!v.path.trim()) out[`path${i}`] = 'Give the path of the value.';
    });
  }
  if (!f.reason.trim()) out.reason = 'Say why, for who reviews it.';
  return out;
}

const plain = /^(true|false|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/;

/**
 * The value that a text stands for: a number, true or false; anything else is a
 * text, and so is what is in quotation marks.
 */
export function valueOf(text: string): string | number | boolean {
  if (plain.test(text)) return JSON.parse(text);
  try {
    const quoted = /^".*"$/.test(text) && JSON.parse(text);
    return typeof quoted === 'string' ? quoted : text;
  } catch {
    return text;
  }
}

const given = (text: string) => text.trim() || undefined;

/** The change that a form asks for, as the server takes it. */
export function changeOf(f: ChangeForm): ChangeInput {
  const file = given(f.file);
  switch (f.what) {
    case 'replicas':
      return { replicas: f.replicas, file };
    case 'set':
      return {
        set: f.values.map(v => ({
          file: given(v.file),
          path: v.path.trim(),
          value: valueOf(v.value),
        })),
      };
    default: {
      const [name, tag] = [given(f.name), given(f.tag)];
      return { image: { name, tag, digest: given(f.digest) }, file };
    }
  }
}

/** The lines of a text that say something. */
export const linesIn = (text: string) =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(Boolean);
