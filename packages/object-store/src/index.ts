export { FolderObjectStore } from './folder-object-store.js';
export { openObjectStore, type AwsOptions } from './open-object-store.js';
export { S3ObjectStore, type S3Credentials, type S3Options } from './s3-object-store.js';
