/** Arbitrary rows, requests and answers for property tests (fast-check). */

export {
  arbitraryAck,
  arbitraryAnswer,
  arbitraryBatch,
  arbitraryInvocation,
  arbitraryInvocationId,
  arbitraryJournalEntry,
  arbitraryJournalSnapshot,
  arbitraryMessage,
  arbitraryNotificationId,
  arbitraryPromise,
  arbitraryRequest,
  arbitrarySnapshot,
  arbitraryStateSnapshot,
} from './arbitraries.js';
