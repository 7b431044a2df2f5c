import { useState } from 'react';
import { Button } from '@backstage/ui';
import styles from './long.module.css';

const most = 500; // characters; some six lines

/** A text; of one that would fill the page its beginning, until all is wanted. */
export const Long = ({ children: text }: { children: string }) => {
  const [all, setAll] = useState(false);
  const short = text.length <= most + most / 2;
  const begun = text.slice(0, most).replace(/[\s\ud800-\udbff]+$/, ''); // no half of an emoji
  return (
    <span className={styles.long}>
      {all || short ? text : `${begun}… `}
      {!short && (
        <Button
          size="small"
          variant="tertiary"
          aria-expanded={all}
          onPress={() => setAll(!all)}
        >
          {all
            ? 'Show less'
            : `Show ${(text.length - most).toLocaleString(
                'en',
              )} more characters`}
        </Button>
      )}
    </span>
  );
};
