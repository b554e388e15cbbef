package io.tessera.software.launch;

/** Extents of a grid, a cluster or a block, or a place in one. */
public record Dim3(int x, int y, int z) {
    /** One in every dimension. */
    public static final Dim3 ONE = new Dim3(1, 1, 1);

    /** Product of the extents. */
    public long count() {
        return (long) x * y * z;
    }

    /** Returns the place with this number, counted with x running fastest. */
    public Dim3 at(long number) {
        return new Dim3((int) (number % x), (int) (number / x % y), (int) (number / x / y));
    }

    @Override
    public String toString() {
        return "(" + x + "," + y + "," + z + ")";
    }
}
