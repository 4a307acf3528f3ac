// # What the paper leaves out
//
// The numbered lines of the project's PERCOLATOR checklist: what holds, where, by which invariant, and
// which function checks it. Each check is an entry of checklist_test.go, and the killer of at least one
// mutant (testdata/mutants here and in the packages below), which takes just that clause away:
// TestChecklist expects no check to find anything, and package mutants expects each to find its mutant.
//
//   - P1 (I5): a rollback leaves a record (mvcc/rollback.go): latePrimaryIsStopped. Of a run of unprotected
//     ones the newest stays: rollbacksCollapse. Those of primaries, and those that bar a missing async
//     lock, are protected and never collapsed: protectedRollbackStays.
//   - P2 (I1): every commit_ts is drawn from the oracle, calculated ones too, so none is another's
//     start_ts, where a rollback record might lie (async.go): rollbackHitsNoRecord.
//   - P3 (I15): a prewrite refuses on its own rollback record: latePrimaryIsStopped; may be repeated:
//     lostPrewriteIsRepeated; and finds its own commit, also below a newer one: prewriteAfterCommit. A
//     commit may be repeated: lostCommitIsRepeated; fails if rolled back: commitAfterRollback. A rollback
//     of a committed transaction answers *CommittedError: rollbackAfterCommit.
//   - P4 (I5): an absent primary is left alone until the lock that led to it has expired:
//     slowPrimaryIsWaitedFor. Then a protected rollback is written there (mvcc.CheckStatus), before the
//     secondary is touched: latePrimaryIsStopped, primaryDecidesFirst.
//   - P5 (I4): the primary is the first key that is really written; an insert that was deleted again is
//     none (Txn.mutations): primaryIsWritten. A streaming transaction's primary stays locked even if its
//     write is undone.
//   - P6 (I5): resolver.status asks the oracle for the time: oracleTimeJudges. Long commits and streams
//     extend the primary's lock (two_phase.go, stream.go): longCommitLives; a heartbeat that comes too
//     late changes nothing: deadStayDead. On an exclusive engine no clock judges a transaction that runs
//     (living.go): leapDoesNotKill. Owners live by leases (I19): a dead one's locks are cleaned up
//     at once, deadOwnerIsNotAwaited; a living one's once their time is over, livingOwnerIsAwaited.
//   - P7 (I5, I2, I24): a reader raises the lowest commit timestamp, in memory (living.go) or at the primary
//     (mvcc.CheckStatus): readerDoesNotWait; a commit below it draws again (commitPrimary):
//     pushedCommitIsAbove, pushedCommitElsewhereIsAbove.
//   - P8 (I12): async.go. Above every earlier read: asyncIsAboveReads; under locks that readers see, or
//     wait for: asyncLockIsSeen; at the highest of all locks: asyncIsAtItsHighest. A stranger asks all:
//     halfAsyncIsNothing; a missing lock is barred first: missingLockIsBarred. The lower bound that the
//     line wants fetched before prewrite is drawn later, under the rows' latches, and is higher.
//   - P9 (I15): committer.run chooses the route once, before anything is written: groupsTakeTwoPhases;
//     no retry changes it: retryStaysTwoPhase. One phase is not tried again when its answer was lost, but
//     found or barred (learnOnePhase): lostUpdateIsBarred.
//   - P10 (I16): mvcc's checkConflict goes on below records of kinds lock and rollback:
//     insertLooksThroughRollbacks, insertLooksThroughLocks; below the transaction's own streamed lock too:
//     insertLooksBelowItsOwnLock.
//   - P11 (I16, I22): row locks are this process's memory (package rowlock), and leave no record:
//     whoever wants the row waits for them, and I9 keeps commits off. On a store that several processes
//     share they are in the row lock column too, which readers never look at: rowLockIsSeenElsewhere.
//     Records of kind lock are what a stream leaves of a write that was undone. Readers skip them:
//     undoneWriteIsNone; conflict checks see them: lockedKeyConflicts.
//   - P12 (I9, I11): after a wait LockCurrent answers *StaleError, and the statement reads again at a new
//     timestamp: waiterReadsAgain, laterStatementSeesMore; or *WriteConflictError, 40001: waiterFails. A
//     write stays based on what it was read from: laterStatementProtectsNothing. Locks end with their
//     transaction: locksEndWithTheirTransaction; and not before: locksAreHeldToTheEnd, streamedLocksStand.
//     Nobody writes over them: lockedRowIsNotStolen; who waits keeps no owner from its own key:
//     streamedKeyStaysItsOwn. So it is across processes (I22): waiterElsewhereReadsAgain,
//     recordsEndWithTheirTransaction, recordsEndAtTheSavepoint, recordsAreHeldToTheEnd,
//     lockedRowIsNotStolenElsewhere; who waits long comes next: queuedRowIsNotTaken. The locks of the dead end with the lease: recordsOfTheDeadEnd; and who
//     was taken for dead does not commit on them: lostRowLockFailsTheCommit,
//     lostRowLockIsWaitedFor.
//   - P13 (I17): row locks: deadlockIsDetected, deadlockElsewhereIsDetected; locks in the store:
//     youngerGivesIn, circleThroughACommitIsDetected. Latches are taken in one order and surround the step, in pebblekv:
//     latchesAreSorted, latchesSurroundTheStep (its latch_test.go).
//   - P14 (I2): tryCommitPrimary draws commit_ts, after all prewrites: commitTSIsDrawnLast.
//   - P15 (I4): an unknown result is looked for, and else ErrAmbiguous, 40003: noAnswerIsAmbiguous.
//   - P16 (I6): package gc settles locks first: locksAreSettledFirst; mvcc.Collect keeps the newest version
//     unless it is a removal: newestVersionStays, removedStaysRemoved; registry refuses readers below,
//     and running transactions hold it: readerBelowIsRefused, runningTransactionHolds. On a shared store
//     (I20) those of other processes do: othersHoldTheSafepoint; and who outlived his lease is refused:
//     lapsedReaderIsRefused, lapsedWriterIsRefused. What was dropped as a whole (I25) stays while anyone may
//     read it: droppedSpanStaysForReaders; what lands late goes too: droppedSpanIsLookedAtAgain; and who
//     has read there has his place in the serial order: droppedSpanWasRead.
//
// What TiKV added: parallel prewrite, T1 (prewriteAll, committer.rollback): prewritesRunTogether,
// failedBatchRollsBack. Rollback records, T2: P1. Short values, T3 (mvcc/prewrite.go): shortValueIsInlined.
// Point reads without a timestamp, T4 (get.go): pointReadIsNewest, pointReadDrawsNothing; a read with a
// transaction of its own takes a view that another left (I14): leftViewHidesNothing. Calculated commit
// timestamps, T5: P8, and not above the present: asyncIsSeenAtOnce. One phase, T6: onePhaseLeavesNoLock,
// onePhaseIsSeen.
//
// And of the paper itself: §2.2 updateIsNotLost, lockIsNotOverwritten, leftLockIsSettled,
// lockIsFoundAtOpen, commitSurvivesACrash; §2.3 oracleRemembers, oracleNeverStepsBack,
// oracleServesFromMemory; §2.5 prewritesTravelTogether, readsTravelTogether. A row's columns travel
// together as one value of one key (package table).
//
// The checks are single scenes. Orders between them are tried in interleaving_test.go (all, up to so many
// preemptions), in script_test.go, and by dice in tests/history.
package txn
