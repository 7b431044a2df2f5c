import {
  RiCheckLine,
  RiCloseCircleLine,
  RiErrorWarningLine,
  RiHistoryLine,
  RiQuestionLine,
  RiTimeLine,
  type RemixiconComponentType,
} from '@remixicon/react';
import styles from './agents.module.css';

type Look = [RemixiconComponentType, keyof typeof looks];
const looks = { good: '', bad: '', open: '', over: '' };

const states: Record<string, Look> = {
  // of requests for approval
  pending: [RiTimeLine, 'open'],
  granted: [RiCheckLine, 'good'],
  denied: [RiCloseCircleLine, 'bad'],
  used: [RiCheckLine, 'over'],
  expired: [RiHistoryLine, 'over'],
  // of acts
  ok: [RiCheckLine, 'good'],
  refused: [RiCloseCircleLine, 'bad'],
  failed: [RiErrorWarningLine, 'bad'],
  // of credentials on loan
  issuing: [RiTimeLine, 'open'],
  live: [RiCheckLine, 'good'],
  revoking: [RiTimeLine, 'open'],
  revoked: [RiHistoryLine, 'over'],
  // of previews
  creating: [RiTimeLine, 'open'],
  ready: [RiCheckLine, 'good'],
  degraded: [RiErrorWarningLine, 'bad'],
  deleting: [RiTimeLine, 'open'],
  gone: [RiHistoryLine, 'over'],
};

/** A state as a word with a sign; one that is not known is shown all the same. */
export const State = ({ of }: { of: string }) => {
  const [Icon, look] = states[of] ?? [RiQuestionLine, 'over' as const];
  return (
    <span className={`${styles.state} ${styles[look]}`}>
      <Icon aria-hidden />
      {of}
    </span>
  );
};
