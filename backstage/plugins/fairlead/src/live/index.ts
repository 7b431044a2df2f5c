export * from './extensions';
export * from './LiveCatalogProvider';
