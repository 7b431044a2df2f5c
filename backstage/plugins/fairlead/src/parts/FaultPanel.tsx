import { Button } from '@backstage/ui';
import type { Fault } from '@fairlead/backstage-plugin-common';
import { Notice } from './Notice';
import { Long } from './Long';

const statuses: Record<string, 'info' | 'warning'> = {
  approval_required: 'info',
  conflict: 'warning',
  failed_precondition: 'warning', // nothing is broken, something is not there
};

/** Says what went wrong and how to put it right. */
export const FaultPanel = (props: { fault: Fault; onRetry?: () => void }) => (
  <Notice
    role="alert"
    status={statuses[props.fault.code] ?? 'danger'}
    icon
    title={<Long>{props.fault.message}</Long>}
    description={props.fault.fix}
    customActions={
      props.onRetry && (
        <Button size="small" variant="secondary" onPress={props.onRetry}>
          Try again
        </Button>
      )
    }
  />
);
