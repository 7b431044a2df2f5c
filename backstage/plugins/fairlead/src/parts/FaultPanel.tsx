import { Alert, Button } from '@backstage/ui';
import type { Fault } from '@fairlead/backstage-plugin-common';

const statuses: Record<string, 'info' | 'warning'> = {
  approval_required: 'info',
  conflict: 'warning',
  failed_precondition: 'warning', // nothing is broken, something is not there
};

/** Says what went wrong and how to put it right. */
export const FaultPanel = (props: { fault: Fault; onRetry?: () => void }) => (
  <Alert
    role="alert"
    status={statuses[props.fault.code] ?? 'danger'}
    icon
    title={props.fault.message}
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
