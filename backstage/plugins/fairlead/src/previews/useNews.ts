import { useEffect, useRef, useState } from 'react';
import { called, type Preview } from './preview';

/** Says what has come and changed among previews, for those who do not see it. */
export function useNews(previews?: Preview[]): string {
  const [news, setNews] = useState('');
  const known = useRef<Map<string, string>>();
  useEffect(() => {
    if (!previews) return;
    const before = known.current;
    known.current = new Map(previews.map(p => [p.id, p.phase]));
    const changed = before
      ? previews.filter(p => before.get(p.id) !== p.phase)
      : [];
    if (changed.length) {
      setNews(changed.map(p => `${called(p)} is ${p.phase}`).join(', '));
    }
  }, [previews]);
  return news;
}
