package io.tessera.software.arithmetic;

/** Classes of {@code testp}; zeros are NORMAL too. */
public enum NumberClass {
    FINITE, INFINITE, NUMBER, NOTANUMBER, NORMAL, SUBNORMAL;

    /** {@code testp} of {@code .f32}. */
    public boolean holds(float a) {
        return holds(Math.abs(a), Float.MIN_NORMAL, a == a);
    }

    /** {@code testp} of {@code .f64}. */
    public boolean holds(double a) {
        return holds(Math.abs(a), Double.MIN_NORMAL, a == a);
    }

    private boolean holds(double magnitude, double smallestNormal, boolean number) {
        return switch (this) {
            case FINITE -> magnitude < Double.POSITIVE_INFINITY;
            case INFINITE -> magnitude == Double.POSITIVE_INFINITY;
            case NUMBER -> number;
            case NOTANUMBER -> !number;
            case NORMAL -> magnitude == 0 || magnitude >= smallestNormal && magnitude < Double.POSITIVE_INFINITY;
            case SUBNORMAL -> magnitude > 0 && magnitude < smallestNormal;
        };
    }
}
