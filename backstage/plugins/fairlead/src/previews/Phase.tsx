import { Flex, Text, type TextColorStatus } from '@backstage/ui';
import {
  RiAlertLine,
  RiCheckboxCircleLine,
  RiCloseCircleLine,
  RiDeleteBinLine,
  RiErrorWarningLine,
  RiLoader4Line,
  RiTimeLine,
  type RemixiconComponentType,
} from '@remixicon/react';

const looks: Record<string, [RemixiconComponentType, TextColorStatus?]> = {
  pending: [RiTimeLine, 'info'],
  creating: [RiLoader4Line, 'info'],
  ready: [RiCheckboxCircleLine, 'success'],
  degraded: [RiErrorWarningLine, 'warning'],
  deleting: [RiDeleteBinLine],
  gone: [RiCloseCircleLine],
  failed: [RiAlertLine, 'danger'],
};

/** The phases that a preview can be in, in the order of its life. */
export const phases = Object.keys(looks);

/** How far a preview has come, by word and picture. */
export const Phase = (props: { phase: string }) => {
  const [Icon, color] = looks[props.phase] ?? [RiTimeLine];
  return (
    <Flex align="center" gap="1">
      <Text color={color ?? 'secondary'} aria-hidden>
        <Icon size={16} style={{ display: 'block' }} />
      </Text>
      <Text weight="bold">{props.phase}</Text>
    </Flex>
  );
};
