package io.tessera.software.driver.work;

/** Takes what a kernel prints. Called from several threads. */
@FunctionalInterface
public interface Output {
    /** Takes text; the array belongs to the receiver. */
    void print(byte[] text);
}
