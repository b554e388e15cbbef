package io.tessera.guardian.verify;

/** What special registers hold on every GPU. Stateless. */
final class SpecialValues {
    private SpecialValues() {
    }

    static Value of(String register) {
        return switch (register) {
            case "%tid.x", "%tid.y" -> range(0, 1023);
            case "%tid.z" -> range(0, 63);
            case "%ntid.x", "%ntid.y" -> range(1, 1024);
            case "%ntid.z" -> range(1, 64);
            case "%ctaid.x" -> range(0, Integer.MAX_VALUE - 1);
            case "%nctaid.x" -> range(1, Integer.MAX_VALUE);
            case "%ctaid.y", "%ctaid.z" -> range(0, 65534);
            case "%nctaid.y", "%nctaid.z" -> range(1, 65535);
            case "%laneid" -> range(0, 31);
            case "%lanemask_eq", "%lanemask_le", "%lanemask_ge" -> Value.of(Value.Kind.LANES, 0, 0, 0);
            case "%dynamic_smem_size" -> range(0, 256 << 10);
            case "%globaltimer", "%clock64" -> Value.ANY;
            default -> register.endsWith("64") ? Value.ANY : Value.any(32);
        };
    }

    private static Value range(long low, long high) {
        return Value.number(low, high, 0, 32);
    }
}
