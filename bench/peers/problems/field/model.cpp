#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_MATRIX(y);
    PARAMETER(alpha); PARAMETER(log_tau); PARAMETER_MATRIX(u);
    Type tau = exp(log_tau), squares = 0, log_p = dnorm(alpha, Type(0), Type(sqrt(10.0)), true) + 2 * log_tau - tau / 2;
    int S = y.rows();
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++) {
            squares += 0.01 * u(i, j) * u(i, j);
            if (i > 0) squares += (u(i, j) - u(i - 1, j)) * (u(i, j) - u(i - 1, j));
            if (j > 0) squares += (u(i, j) - u(i, j - 1)) * (u(i, j) - u(i, j - 1));
            log_p += y(i, j) * (alpha + u(i, j)) - exp(alpha + u(i, j));
        }
    log_p += 0.5 * S * S * log_tau - tau * squares / 2;
    ADREPORT(alpha); ADREPORT(tau);
    return -log_p;
}
