const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Writes a size as people read it, such as "1.5 GiB". */
export function bytes(n: number): string {
  let unit = 0;
  let rest = n;
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit += 1;
  }
  return `${unit && rest < 100 ? rest.toFixed(1) : Math.round(rest)} ${
    units[unit]
  }`;
}

/** Writes a time of a processor, such as "2.5 s" or "3 min". */
export const seconds = (n: number): string =>
  n < 120 ? `${n.toFixed(1)} s` : `${Math.round(n / 60)} min`;
