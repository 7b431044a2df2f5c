import { TextAreaField } from '@backstage/ui';
import { checked } from './change';

interface WhyProps {
  reason: string;
  evidence: string;
  problem?: string;
  onReason(text: string): void;
  onEvidence(text: string): void;
  /** What evidence is wanted. */
  hint: string;
}

/** Why something is proposed, and what shows that it is good. */
export const Why = (props: WhyProps) => (
  <>
    <TextAreaField
      label="Reason"
      description="For who reviews it."
      isRequired
      {...checked(props.problem)}
      value={props.reason}
      onChange={props.onReason}
      rows={2}
    />
    <TextAreaField
      label="Evidence"
      description={props.hint}
      value={props.evidence}
      onChange={props.onEvidence}
      rows={2}
    />
  </>
);
