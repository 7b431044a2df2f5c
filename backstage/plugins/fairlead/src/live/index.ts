export * from './extensions';
export * from './LiveCatalogProvider';
export * from './useEntityChanges';
