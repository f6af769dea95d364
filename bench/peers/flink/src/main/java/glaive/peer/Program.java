package glaive.peer;

import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** A program whose records are in memory. */
interface Program {
    /** The rows of a new job in this environment. */
    DataStream<?> build(StreamExecutionEnvironment env);
}
