/** The document of a node: one per node, written by the node itself. */

import { parseNodeId, ROLES, type ClusterNode, type NodeId } from '@engine/domain';
import { z } from 'zod';

import { maybe, readDocument, writeDocument, type DocumentFormat } from './versioned.js';

/** A document that names a node. */
export const nodeIdText = z.string().transform((text, context): NodeId => {
  const id = parseNodeId(text);
  if (id !== undefined) return id;
  context.addIssue({ code: 'custom', message: 'not the id of a node' });
  return z.NEVER;
});

const formatVersion = z.int().min(1);

const NODE: DocumentFormat<ClusterNode> = {
  what: 'the document of a node',
  version: 1,
  schema: z
    .strictObject({
      version: z.literal(1),
      id: nodeIdText,
      incarnation: z.int().min(1),
      roles: z.array(z.enum(ROLES)).min(1),
      addresses: z.strictObject({
        internal: z.string().min(1),
        ingress: maybe(z.string().min(1)),
        admin: maybe(z.string().min(1)),
      }),
      zone: maybe(z.string()),
      binaryVersion: z.string(),
      formats: z
        .strictObject({ min: formatVersion, max: formatVersion })
        .refine(({ min, max }) => min <= max),
      isLeaving: z.boolean(),
    })
    .transform(({ version: _, ...node }) => node),
};

/** All documents of nodes, and nothing else, have names that begin with it. */
export const NODE_DOCUMENT_PREFIX = 'node/';

/** Name of the document in the metadata store. */
export function nodeDocument(id: NodeId): string {
  return NODE_DOCUMENT_PREFIX + id;
}

/** Throws EngineError META0005 when the node is none that could be read back. */
export function encodeNode(node: ClusterNode): Uint8Array {
  return writeDocument(NODE, node);
}

/** Throws EngineError META0010 when a newer server wrote it, META0005 when it is damaged. */
export function decodeNode(bytes: Uint8Array): ClusterNode {
  return readDocument(NODE, bytes);
}
