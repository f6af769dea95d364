package glaive.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;

/** Query cm: the mean CPU request of each job in two seconds. */
final class TaskEvents {
    private static final Duration WINDOW = Duration.ofSeconds(2);

    private TaskEvents() {}

    /** An event of the file. */
    public record TaskEvent(
            long timeMillis,
            long timestampMicros,
            long job,
            long task,
            long machine,
            int type,
            int category,
            int priority,
            double cpu) {}

    static Program load(Path file, int threads) throws IOException, Failure {
        Shares<TaskEvent> shares = Shares.ofExecutors(
                file,
                threads,
                TaskEvents::parse,
                "event_time_ms",
                "timestamp_us",
                "job_id",
                "task_index",
                "machine_id",
                "event_type",
                "category",
                "priority",
                "cpu");
        return env -> Windows.aggregate(
                MemorySource.attach(env, shares, Windows.inOrder(TaskEvent::timeMillis), TaskEvent.class)
                        .map(event -> Tuple2.of(event.job, event.cpu))
                        .returns(Types.TUPLE(Types.LONG, Types.DOUBLE)),
                request -> request.f0,
                WINDOW,
                new Mean(),
                Types.POJO(Sum.class),
                Types.DOUBLE);
    }

    private static TaskEvent parse(String[] fields) {
        return new TaskEvent(
                Long.parseLong(fields[0]),
                Long.parseLong(fields[1]),
                Long.parseLong(fields[2]),
                Long.parseLong(fields[3]),
                Long.parseLong(fields[4]),
                Integer.parseInt(fields[5]),
                Integer.parseInt(fields[6]),
                Integer.parseInt(fields[7]),
                Double.parseDouble(fields[8]));
    }

    /** The sum of some requests, and their number. */
    public static final class Sum {
        public double cpu;
        public long count;
    }

    /** The mean request of jobs with their requests. */
    private static final class Mean implements AggregateFunction<Tuple2<Long, Double>, Sum, Double> {
        private static final long serialVersionUID = 1;

        @Override
        public Sum createAccumulator() {
            return new Sum();
        }

        @Override
        public Sum add(Tuple2<Long, Double> request, Sum sum) {
            sum.cpu += request.f1;
            ++sum.count;
            return sum;
        }

        @Override
        public Double getResult(Sum sum) {
            return sum.cpu / sum.count;
        }

        @Override
        public Sum merge(Sum left, Sum right) {
            left.cpu += right.cpu;
            left.count += right.count;
            return left;
        }
    }
}
