import {
  ButtonIcon,
  Tooltip,
  TooltipTrigger,
  VisuallyHidden,
} from '@backstage/ui';
import {
  RiCheckLine,
  RiErrorWarningLine,
  RiFileCopyLine,
} from '@remixicon/react';
import { useEffect, useState } from 'react';

const looks = {
  ready: { icon: <RiFileCopyLine />, says: '', tip: 'Copy' },
  copied: { icon: <RiCheckLine />, says: 'Copied', tip: 'Copied' },
  failed: {
    icon: <RiErrorWarningLine />,
    says: 'Could not copy',
    // Browsers keep the clipboard from pages that are not served by HTTPS.
    tip: 'The browser keeps this page from copying; copy it by hand',
  },
};

/** Copies a text; what names it for those who do not see it. */
export const CopyButton = (props: { text: string; what: string }) => {
  const [state, setState] = useState<keyof typeof looks>('ready');
  useEffect(() => {
    if (state === 'ready') return undefined;
    const timer = setTimeout(() => setState('ready'), 2_000);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setState('copied');
    } catch {
      setState('failed');
    }
  };
  const { icon, says, tip } = looks[state];
  return (
    <>
      <TooltipTrigger>
        <ButtonIcon
          size="small"
          variant="tertiary"
          aria-label={`${says || 'Copy'} ${props.what}`}
          icon={icon}
          onPress={copy}
        />
        <Tooltip>{tip}</Tooltip>
      </TooltipTrigger>
      <VisuallyHidden role="status">
        {says && `${says} ${props.what}`}
      </VisuallyHidden>
    </>
  );
};
