import { startTransition, useEffect, useState, type ReactNode } from 'react';

/** Milliseconds that a page has to come to rest. */
const patience = 500;

/** Calls back once the page is at rest; gives how to call that off. */
function whenIdle(then: () => void) {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(then, 1);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(then, { timeout: patience });
  return () => cancelIdleCallback(handle);
}

/** Shows what is inside it once the rest of the page has been drawn. */
export const Later = (props: { children: ReactNode }) => {
  const [due, setDue] = useState(false);
  useEffect(() => whenIdle(() => startTransition(() => setDue(true))), []);
  return due ? <>{props.children}</> : null;
};
