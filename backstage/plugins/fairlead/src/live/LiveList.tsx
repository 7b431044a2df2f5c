import { useEntityList } from '@backstage/plugin-catalog-react';
import { useEffect, useRef } from 'react';
import { useCatalogVersion } from './LiveCatalogProvider';

/** Has the list of the catalog's index ask again when something has changed. */
export const LiveList = () => {
  const version = useCatalogVersion();
  const { refresh } = useEntityList();
  const seen = useRef(version);
  useEffect(() => {
    if (seen.current === version) return;
    seen.current = version;
    refresh?.();
  }, [version, refresh]);
  return null;
};
