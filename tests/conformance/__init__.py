"""One suite for every ledger: plain pytest classes over a `bench` fixture, and a lockstep comparison with the model.

    @pytest.fixture
    def bench(tmp_path): yield sqlite_bench(tmp_path / "ledger.db", ManualClock())

    from conformance.settling import TestSettle

After each case call `bench.check()`: the books are a recount of the rows. What ports.py leaves open, and this suite
holds every ledger to:

Numbers. lease, claim, settle, plan, rescue, release, advance and cancel_rest each take a number of their chunk, and so
does a resume that requeues failed seeds; the other verbs of people, acknowledge and renew take none. Leasing a dead
owner's chunk takes two: rescue, then lease; what the asker already holds is answered again and takes none. A claim
shares the number of a batch of the same call; a look that claims nothing takes none. Under its old number a claim is
still fenced by its epoch alone.

Epochs. Only a grant raises the epoch. The fence is: same epoch, and still owned. So a rescued or released chunk shuts
its last holder out before anybody takes it. What ended the hold may stand under the very number of a zombie's batch:
that is `lost`, not BatchMismatch. Any other entry under that number and epoch with another digest is BatchMismatch.

Answers. `replayed` carries the chunk's present number; of `lost` only the kind means anything. next_due_ms and suspects
mean something only where every wished chunk answered `settled`, and next_due_ms only where nothing was claimed; a lane
that was looked at in vain may be up to 50 ms late. A checkpoint is written only if this call stored a batch.

Ends. Only another boot blames nobody: what a dead or silent owner held is suspect. rescue and acknowledge count one
recovery per call that freed a chunk, dead owner's or lapsed; acknowledge rescues even where a live owner then makes it
answer None, and answers the job where no request stands. advance answers None to whoever does not hold the control
chunk, and the job where it is already completed, failed or timed out. A pause asked for while a cancel or a time-out
stands changes nothing; a cancel outranks both.
`seeds_failed_only` of policy/health.py: every failed target has depth 0.

Rows. Attempts are called succeeded, skipped, failed, retry, handed_back, lost; `n` is the attempt that the claim spent,
so a refunded one comes twice. Of equal suspects the one claimed longest ago goes first. Batches apply in the order of
their chunks; of one call the first finder of a key wins, and new ids follow the order of keys. Names are unique per
owner. by_type has all seven numbers per type. set_aside, amend and request write job events from a status to itself
and raise the version. A lease of another boot has lapsed where deadlines are monotonic time, and nowhere else.

Which targets a slice of cancel_rest takes, and which of several due lanes gives first, is each ledger's own affair.
"""
