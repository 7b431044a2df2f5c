import { Link, Text } from '@backstage/ui';
import { placeText, sourceUrl, type Place } from './sourceUrl';
import styles from './long.module.css';

interface SourceLinkProps {
  place: Place;
  column?: number | null;
  /** An address at the same host, which tells how it writes addresses. */
  like?: string | null;
  /** Of less weight than what is around it, unless it says otherwise. */
  color?: 'primary' | 'secondary';
}

/** Names a place in a file, and leads to it where its host is known. */
export const SourceLink = (props: SourceLinkProps) => {
  const { place, column, like, color = 'secondary' } = props;
  const url = sourceUrl(place, like);
  const text = placeText(place, column);
  const title = [place.repo, place.commit && `at ${place.commit.slice(0, 12)}`]
    .filter(Boolean)
    .join(' ');
  return url ? (
    <Link
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      variant="body-small"
      color={color}
      title={title}
      className={styles.long}
    >
      {text}
    </Link>
  ) : (
    <Text
      variant="body-small"
      color={color}
      title={title}
      className={styles.long}
    >
      {text}
    </Text>
  );
};
