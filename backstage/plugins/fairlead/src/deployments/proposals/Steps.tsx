import { Text, VisuallyHidden } from '@backstage/ui';
import {
  RiCheckboxBlankCircleLine,
  RiCheckboxCircleFill,
  RiCloseCircleFill,
  RiQuestionLine,
  RiRecordCircleLine,
} from '@remixicon/react';
import { When } from '../../parts';
import styles from './Steps.module.css';
import type { Step } from './steps';

const icons = {
  done: RiCheckboxCircleFill,
  current: RiRecordCircleLine,
  ahead: RiCheckboxBlankCircleLine,
  failed: RiCloseCircleFill,
  skipped: RiQuestionLine,
};
const words = {
  done: 'done',
  current: 'at work',
  ahead: 'not yet',
  failed: 'ended',
  skipped: 'not known',
};

/** What something goes through, and how far it has come. */
export const Steps = (props: { of: Step[] }) => (
  <ol className={styles.steps} aria-label="Follow-through">
    {props.of.map(step => {
      const Icon = icons[step.state];
      return (
        <li
          key={step.name}
          className={`${styles.step} ${styles[step.state]}`}
          aria-current={step.state === 'current' ? 'step' : undefined}
        >
          <div className={styles.bar}>
            <Icon size={20} aria-hidden />
          </div>
          <Text
            as="div"
            weight={step.state === 'ahead' ? 'regular' : 'bold'}
            color={step.state === 'ahead' ? 'secondary' : 'primary'}
          >
            {step.name}
            <VisuallyHidden>: {words[step.state]}</VisuallyHidden>
          </Text>
          {step.at && (
            <Text as="p" variant="body-small" color="secondary">
              <When at={step.at} />
            </Text>
          )}
          {step.text && (
            <Text as="p" variant="body-small" color="secondary">
              {step.text}
            </Text>
          )}
        </li>
      );
    })}
  </ol>
);
