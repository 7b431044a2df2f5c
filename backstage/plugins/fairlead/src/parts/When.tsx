import { useEffect, useState } from 'react';

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const skew = 5; // seconds by which a server's clock may be ahead of ours

/** Says how far a moment is from now, for example "5 minutes ago". */
export function distance(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1000);
  if (seconds > 0 && seconds <= skew) return words.format(0, 'second');
  const [unit, size] =
    steps.find(([, s]) => Math.abs(seconds) >= s) ?? steps[steps.length - 1];
  return words.format(Math.trunc(seconds / size), unit);
}

/** The present moment, renewed every so many milliseconds. */
export function useNow(every: number): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
}

/** A moment as its distance from now, with the exact time beside it. */
export const When = (props: { at: string }) => {
  const at = new Date(props.at);
  const young = Math.abs(Date.now() - at.getTime()) < 60_000;
  useNow(young ? 1_000 : 10_000);
  return (
    <time dateTime={props.at} title={at.toLocaleString()}>
      {distance(at, new Date())}
    </time>
  );
};

const two = (n: number) => String(n).padStart(2, '0');

/** How long is left, for example "1:04:09"; "over" afterwards. */
export function left(at: Date, now: Date): string {
  const s = Math.ceil((at.getTime() - now.getTime()) / 1000);
  if (s <= 0) return 'over';
  const h = Math.floor(s / 3600);
  const minutes = Math.floor(s / 60) % 60;
  return `${h ? `${h}:${two(minutes)}` : minutes}:${two(s % 60)}`;
}

/** How long is left as it is read out, for example "1 hour 4 minutes". */
export function spoken(at: Date, now: Date): string {
  const s = Math.ceil((at.getTime() - now.getTime()) / 1000);
  if (s <= 0) return 'over';
  if (s < 60) return 'less than a minute';
  const parts: [number, string][] = [
    [Math.floor(s / 3600), 'hour'],
    [Math.floor(s / 60) % 60, 'minute'],
  ];
  return parts
    .filter(([n]) => n)
    .map(([n, unit]) => `${n} ${unit}${n === 1 ? '' : 's'}`)
    .join(' ');
}

/** Counts down to a moment, by the second. */
export const Countdown = (props: { at: string }) => {
  const at = new Date(props.at);
  useNow(1_000);
  const now = new Date();
  return (
    <time
      dateTime={props.at}
      title={at.toLocaleString()}
      role="timer"
      aria-label={spoken(at, now)}
    >
      {left(at, now)}
    </time>
  );
};
