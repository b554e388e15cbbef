package io.tessera.software.arithmetic;

/** Rounding of an exact result to a representable one. */
public enum Rounding {
    /** {@code .rn}, {@code .rni}: to the nearest, ties to the even one. */
    NEAREST_EVEN,
    /** {@code .rz}, {@code .rzi}: towards zero. */
    TOWARD_ZERO,
    /** {@code .rm}, {@code .rmi}: towards minus infinity. */
    DOWN,
    /** {@code .rp}, {@code .rpi}: towards plus infinity. */
    UP,
    /** {@code .rna}: to the nearest, ties away from zero. Only conversions to tf32 have it. */
    NEAREST_AWAY;

    /**
     * Returns whether the magnitude of a truncated value goes up by one unit.
     *
     * @param negative sign of the value
     * @param odd      whether the truncated magnitude is odd
     * @param half     how the discarded rest compares with half a unit: negative, zero, positive
     * @param inexact  whether the rest is not zero
     */
    boolean increments(boolean negative, boolean odd, int half, boolean inexact) {
        return switch (this) {
            case NEAREST_EVEN -> half > 0 || half == 0 && odd;
            case NEAREST_AWAY -> half >= 0;
            case TOWARD_ZERO -> false;
            case DOWN -> inexact && negative;
            case UP -> inexact && !negative;
        };
    }

    /** Returns whether a finite value of this sign that is too large becomes infinite rather than the largest finite one. */
    boolean overflowsToInfinity(boolean negative) {
        return switch (this) {
            case NEAREST_EVEN, NEAREST_AWAY -> true;
            case TOWARD_ZERO -> false;
            case DOWN -> negative;
            case UP -> !negative;
        };
    }

    /**
     * Corrects a result that was rounded to the nearest.
     *
     * @param nearest the result rounded to nearest even; not NaN
     * @param rest    sign of (exact result - nearest)
     */
    double correct(double nearest, int rest) {
        return switch (this) {
            case NEAREST_EVEN, NEAREST_AWAY -> nearest;
            case TOWARD_ZERO -> nearest > 0 && rest < 0 ? Math.nextDown(nearest)
                    : nearest < 0 && rest > 0 ? Math.nextUp(nearest) : nearest;
            case DOWN -> rest < 0 ? Math.nextDown(nearest) : nearest;
            case UP -> rest > 0 ? Math.nextUp(nearest) : nearest;
        };
    }
}
