package glaive.peer;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;

/**
 * Runs one of Glaive's queries on Apache Flink, as Flink's users write it for speed, for scripts/peers.
 *
 * <pre>java -Xms4g -jar glaive_peer_flink.jar PROGRAM THREADS FILE OUTPUT</pre>
 *
 * <p>{@code mvn -q -B package} in this project's folder builds the jar, and a folder {@code lib} beside it, both in
 * build/peers_flink. {@link Programs} has the names of the programs. THREADS is the parallelism of all operators. FILE
 * is what Glaive's {@code --export-input} writes with so many executors. Only {@code q0} to {@code q2} take the file of
 * one executor, and {@code associative} takes a text. The rows go to OUTPUT as CSV. Where OUTPUT is {@code -}, the sink
 * drops the rows as they come.
 *
 * <p>The program reads FILE into memory. Then it runs the job twice, on a cluster in its own JVM. In the first run the
 * JVM compiles the code. The program prints how many seconds the second run takes, from the first record that a source
 * emits to the last row. That clock starts when all sources and sinks are ready.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        try {
            run(arguments);
        } catch (Exception error) {
            System.err.println("glaive_peer_flink: " + reason(error));
            System.exit(1);
        }
    }

    private static void run(String[] arguments) throws Exception {
        if (arguments.length != 4) {
            throw new Failure("usage: glaive_peer_flink PROGRAM THREADS FILE OUTPUT");
        }
        int threads = threadsOf(arguments[1]);
        String output = arguments[3];
        boolean drops = output.equals("-");
        Program program = Programs.load(arguments[0], Path.of(arguments[2]), threads);
        execute(program, threads, true);
        System.gc();
        execute(program, threads, drops);
        if (!drops) {
            CsvFile.write(Path.of(output), Run.rows());
        }
        System.out.println(Run.seconds());
    }

    private static int threadsOf(String text) throws Failure {
        try {
            int threads = Integer.parseInt(text);
            if (threads > 0) {
                return threads;
            }
        } catch (NumberFormatException error) {
            // It is told below.
        }
        throw new Failure("THREADS is '" + text + "', which is no positive number");
    }

    /** Runs the job once, from its own cluster's start to that cluster's end. */
    private static void execute(Program program, int threads, boolean drops) throws Exception {
        Run.begin();
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(threads, configuration());
        RowSink.attach(program.build(env), drops);
        env.execute("glaive_peer_flink");
    }

    private static Configuration configuration() {
        Configuration configuration = new Configuration();
        configuration.set(PipelineOptions.OBJECT_REUSE, true);
        // A type that only Kryo can serialize fails the job.
        configuration.set(PipelineOptions.GENERIC_TYPES, false);
        configuration.set(StateBackendOptions.STATE_BACKEND, "hashmap");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(256));
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(256));
        return configuration;
    }

    /** What went wrong first. */
    private static String reason(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (cause instanceof Failure) {
            return cause.getMessage();
        }
        // The messages of these are no more than the file's name.
        return cause instanceof IOException ? cause.toString() : ExceptionUtils.stringifyException(cause);
    }
}
