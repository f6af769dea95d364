package glaive.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Phaser;

/**
 * What the subtasks of the current run share: their common start, the clock and the rows.
 *
 * <p>Subtasks of Flink come from a serialized job, so they find this by a static field.
 */
final class Run {
    private static volatile Run current;

    private final Phaser ready = new Phaser();
    private final List<Object> rows = new ArrayList<>();
    private long firstNanos = Long.MAX_VALUE;
    private long lastNanos = Long.MIN_VALUE;

    private Run() {}

    /** Begins a run, before its job is built. */
    static void begin() {
        current = new Run();
    }

    /** Makes the run's start wait for so many more subtasks. */
    static void expect(int subtasks) {
        current.ready.bulkRegister(subtasks);
    }

    /** Tells that a subtask is ready. */
    static void arrive() {
        current.ready.arrive();
    }

    /** Waits until all expected subtasks are ready, and starts the clock. */
    static void start() throws InterruptedException {
        Run run = current;
        run.ready.awaitAdvanceInterruptibly(0);
        long now = System.nanoTime();
        synchronized (run) {
            run.firstNanos = Math.min(run.firstNanos, now);
        }
    }

    /** Stops the clock, unless another subtask stops it later. Takes the rows of the subtask that ends. */
    static void end(List<?> rows) {
        Run run = current;
        long now = System.nanoTime();
        synchronized (run) {
            run.lastNanos = Math.max(run.lastNanos, now);
            run.rows.addAll(rows);
        }
    }

    /** How long the run that has ended took. */
    static double seconds() {
        return (current.lastNanos - current.firstNanos) / 1e9;
    }

    /** The rows of the run that has ended. */
    static List<Object> rows() {
        return current.rows;
    }
}
