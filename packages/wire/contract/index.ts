/** Arbitrary rows, requests and answers for property tests (fast-check). */

export {
  arbitraryAck,
  arbitraryAnswer,
  arbitraryBatch,
  arbitraryInvocation,
  arbitraryInvocationId,
  arbitraryJournalEntry,
  arbitraryMessage,
  arbitraryNotificationId,
  arbitraryPromise,
  arbitraryRequest,
  arbitrarySnapshot,
} from './arbitraries.js';
