import { ButtonIcon, Tooltip, TooltipTrigger } from '@backstage/ui';
import { RiCheckLine, RiFileCopyLine } from '@remixicon/react';
import { useEffect, useState } from 'react';

/** Copies a text; what names it for those who do not see it. */
export const CopyButton = (props: { text: string; what: string }) => {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    const timer = copied && setTimeout(() => setCopied(false), 2_000);
    return () => void (timer && clearTimeout(timer));
  }, [copied]);
  const copy = async () => {
    await navigator.clipboard.writeText(props.text);
    setCopied(true);
  };
  return (
    <TooltipTrigger>
      <ButtonIcon
        size="small"
        variant="tertiary"
        aria-label={copied ? `Copied ${props.what}` : `Copy ${props.what}`}
        icon={copied ? <RiCheckLine /> : <RiFileCopyLine />}
        onPress={copy}
      />
      <Tooltip>{copied ? 'Copied' : 'Copy'}</Tooltip>
    </TooltipTrigger>
  );
};
