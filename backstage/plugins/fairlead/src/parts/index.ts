export * from './Answer';
export * from './CopyButton';
export * from './Diff';
export * from './FaultPanel';
export * from './Pager';
export * from './SourceLink';
export * from './When';
export * from './sourceUrl';
