import {
  Button,
  Card,
  CardBody,
  CardFooter,
  CardHeader,
  Flex,
  Text,
} from '@backstage/ui';
import { RiArrowLeftLine } from '@remixicon/react';
import { useLiveQuery, useViewer } from '../client';
import { Answer, useNow } from '../parts';
import {
  ApprovalDocument,
  type ApprovalInWholeFragment,
} from './approvals.generated';
import { Decide } from './Decide';
import { Next, Request, stateAt, whyNot } from './Request';
import { approvalChanges } from './requests';

/** Lets the viewer decide, or says why they cannot and what comes next. */
const Foot = (props: {
  of: ApprovalInWholeFragment;
  onDone: (what: string) => void;
}) => {
  const { of: r, onDone } = props;
  const viewer = useViewer();
  const now = useNow(1_000);
  if (r.mayDecide && stateAt(r, now) === 'pending') {
    return <Decide id={r.id} summary={r.summary} onDone={onDone} />;
  }
  const why = whyNot(r, viewer.data?.whoami, now);
  return why ? <Text>{why}</Text> : <Next of={r} />;
};

/** One request by its id. */
export const ApprovalView = (props: {
  id: string;
  onDone: (what: string) => void;
  onBack: () => void;
}) => {
  const { id, onDone, onBack } = props;
  const request = useLiveQuery({
    query: ApprovalDocument,
    variables: { id },
    changes: approvalChanges,
  });
  return (
    <Flex direction="column" gap="3" align="start">
      <Button
        size="small"
        variant="tertiary"
        iconStart={<RiArrowLeftLine />}
        onPress={onBack}
      >
        All approvals
      </Button>
      <Answer of={request}>
        {({ approval: r }) =>
          r && (
            <Card>
              <CardHeader>
                <Text as="h2" variant="title-small">
                  {r.summary}
                </Text>
              </CardHeader>
              <CardBody>
                <Request of={r} />
              </CardBody>
              <CardFooter>
                <Foot
                  of={r}
                  onDone={what => {
                    onDone(what);
                    request.refresh();
                  }}
                />
              </CardFooter>
            </Card>
          )
        }
      </Answer>
    </Flex>
  );
};
