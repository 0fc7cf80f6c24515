#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(y); DATA_VECTOR(start); DATA_VECTOR(centre); DATA_MATRIX(weight);
    PARAMETER_MATRIX(log_odds); PARAMETER_VECTOR(mu); PARAMETER(log_sigma); // log_odds: of a row's others to its diagonal
    Type sigma = exp(log_sigma), log_p = dnorm(sigma, Type(0), Type(1), true) + log_sigma;
    matrix<Type> P(3, 3);
    vector<Type> alpha(3), next(3), stay(3);
    for (int k = 0; k < 3; k++) {
        Type total = 1;
        for (int j = 0, c = 0; j < 3; j++) total += P(k, j) = j == k ? Type(0) : exp(log_odds(k, c++));
        P(k, k) = 1;
        for (int j = 0; j < 3; j++) {
            P(k, j) /= total;
            log_p += weight(k, j) * log(P(k, j)); // the Jacobian adds 1 to the exponents
        }
        stay(k) = P(k, k);
        log_p += dnorm(mu(k), centre(k), Type(1), true);
    }
    for (int t = 0; t < y.size(); t++) {
        Type total = 0;
        for (int j = 0; j < 3; j++) {
            next(j) = t == 0 ? start(j) : alpha(0) * P(0, j) + alpha(1) * P(1, j) + alpha(2) * P(2, j);
            total += next(j) *= dnorm(y(t), mu(j), sigma, false);
        }
        alpha = next / total;
        log_p += log(total);
    }
    ADREPORT(mu); ADREPORT(sigma); ADREPORT(stay);
    return -log_p;
}
